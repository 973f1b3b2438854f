"""A ClusterQueue's spec joined with its flavors, ready for judging heads."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from queueing.core.eligibility import CompiledGroup, compile_group
from queueing.core.facts import ClusterQueueFact, FlavorFact, PreemptionPolicy
from queueing.core.names import CheckName, FlavorName, ResourceName
from queueing.core.outline import Outline, outline_of
from queueing.core.settings import QuotaCheck, Settings
from queueing.core.usage import Demand, Shape

OUTLINES_MAX = 65_536
"""How many shapes the memo of one offer holds; it is emptied when it is full."""


class Offer:
    """Resource groups and flavors, without quotas, and a memo of the outlines of demands."""

    __slots__ = ("flavors", "groups", "outlines", "places", "places_all")

    def __init__(
        self, groups: tuple[CompiledGroup, ...], flavors: Mapping[FlavorName, FlavorFact | None]
    ) -> None:
        self.groups = groups
        self.flavors = flavors
        self.places = any(one is not None and one.topology for one in flavors.values())
        """Whether any flavor has a topology."""
        self.places_all = all(one.places_all for one in groups)
        """Whether all have one, so that also pods which do not request one are placed by it."""
        self.outlines: dict[Shape, Outline] = {}

    def outline(self, demand: Demand, quota_check: QuotaCheck) -> Outline:
        """Return the outline of a demand; all callers must pass the same `quota_check`."""
        found = self.outlines.get(demand.shape)
        if found is None:
            if len(self.outlines) >= OUTLINES_MAX:
                self.outlines.clear()
            found = outline_of(demand, self.groups, quota_check)
            self.outlines[demand.shape] = found
        return found


class QueueRules:
    """The immutable rules of one ClusterQueue."""

    __slots__ = ("fact", "never_preempts", "offer", "places_later")

    def __init__(
        self, fact: ClusterQueueFact, offer: Offer, provisioning: Collection[CheckName] = ()
    ) -> None:
        self.fact = fact
        self.offer = offer
        named = [one.flavor for group in fact.groups for one in group.flavors]
        later = (one.on_flavors or named for one in fact.checks if one.name in provisioning)
        self.places_later = frozenset(flavor for flavors in later for flavor in flavors)
        """Flavors whose nodes may exist only when an admission check is Ready."""
        self.never_preempts = (
            fact.preemption.within_cluster_queue is PreemptionPolicy.NEVER
            and fact.preemption.reclaim_within_cohort is PreemptionPolicy.NEVER
        )

    def preempts_while_borrowing(self, settings: Settings) -> bool:
        """Say whether a workload that would borrow from the root may preempt."""
        policies = self.fact.preemption
        return policies.borrow_within_cohort is not PreemptionPolicy.NEVER or (
            settings.fair_sharing is not None
            and policies.reclaim_within_cohort is not PreemptionPolicy.NEVER
        )


@dataclass(slots=True)
class Catalog:
    """Lets queues that offer the same flavors in the same order share one offer and its memo."""

    _offers: dict[tuple[object, ...], Offer] = field(default_factory=dict)

    def rules(
        self,
        fact: ClusterQueueFact,
        flavors: Mapping[FlavorName, FlavorFact],
        provisioning: Collection[CheckName] = (),
    ) -> QueueRules:
        """Join a queue with its flavors; to be called again when either changes.

        `provisioning` are the admission checks that make nodes.
        """
        layout: tuple[tuple[tuple[ResourceName, ...], tuple[FlavorName, ...]], ...] = tuple(
            (group.covered, tuple(one.flavor for one in group.flavors)) for group in fact.groups
        )
        named = {name: flavors.get(name) for _, names in layout for name in names}
        found = self._offers.get(layout)
        if found is None or found.flavors != named:
            places_all = all(one is not None and one.topology for one in named.values())
            groups = (
                compile_group(at, one, flavors, places_all=places_all)
                for at, one in enumerate(fact.groups)
            )
            found = self._offers[layout] = Offer(tuple(groups), named)
        return QueueRules(fact, found, provisioning)
