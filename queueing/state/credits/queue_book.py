"""The ledger of one ClusterQueue: what the namespaces of its LocalQueues lend each other.

As in a `book`, usage is counted by holdings, which are read from statuses. A namespace whose
workloads run on after its last LocalQueue here was deleted is entitled to nothing, and pays for all
that it holds (docs/decisions/0043).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.core.credits import bend
from queueing.core.credits.classes import ClassMix
from queueing.core.credits.decay import Decay
from queueing.core.credits.facts import CreditPolicyFact, Member
from queueing.core.credits.group import Group, Loss, Position, Standing
from queueing.core.credits.holding import Holding
from queueing.core.credits.part import NONE, Part, Split
from queueing.core.names import FlavorName, ResourceName, namespace_of
from queueing.core.quota.node import Node


@dataclass(slots=True)
class Use:
    """What the workloads of one namespace use of one flavor."""

    amounts: dict[ResourceName, int] = field(default_factory=dict)
    classes: ClassMix = field(default_factory=ClassMix)


Place = tuple[Member, FlavorName]


def namespace(name: str) -> Member:
    """Return the ledger's name of a namespace."""
    return Member("Namespace", name)


class QueueBook:
    """The ledger (`group`) of a ClusterQueue's namespaces, and what each of them uses."""

    __slots__ = (
        "_moved",
        "_split",
        "_uses",
        "_whole",
        "exponents",
        "group",
        "node",
        "policy",
        "read_at",
        "weights",
    )

    def __init__(self, node: Node, policy: CreditPolicyFact, at: int) -> None:
        self.node, self.policy = node, policy
        self.group = Group(at, decay=Decay(policy.half_life_s), debt_limit_s=policy.debt_limit)
        self.weights: dict[Member, int] = {}
        """The children, and their weights in millionths."""
        self.exponents: dict[Member, int] = {}
        self.read_at = -1
        """The time of the stored account that this was resumed from: it includes all until then."""
        self._split = Split({}, policy.prices)
        self._whole = 0
        self._uses: dict[Place, Use] = {}
        self._moved: dict[Place, None] = {}
        """Places whose usage changed since time last passed."""

    def advance(self, to: int) -> None:
        """Let time pass up to `to`, after all changes at the present time took effect."""
        if to > self.group.at:
            self._take_places()
            self.group.advance(to)

    def reshape(self, weights: Mapping[str, int], holdings: Iterable[Holding]) -> None:
        """Take over the present quotas and namespaces, and count these holdings anew."""
        self.weights = {namespace(name): weight for name, weight in sorted(weights.items())}
        self._whole = sum(self.weights.values())
        nominal = {one: self.node.nominal(one) for one in sorted(self.node.cells)}
        granted = {one: amount for one, amount in nominal.items() if amount > 0}
        self._split = Split(granted, self.policy.prices)
        standings = {
            member: Standing(weight, self._split.entitlement(self._part(member)))
            for member, weight in self.weights.items()
        }
        self.group.reshape(standings, {}, kept=self._kept(standings))
        self._uses = {
            (member, flavor): Use() for member in self.weights for flavor in self._split.flavors
        }
        self._moved = dict.fromkeys(self._uses)
        for holding in holdings:
            self.count(holding, 1)
        self._take_places()

    @property
    def parts(self) -> dict[Member, int]:
        """What each namespace is entitled to, in micro-credits per second."""
        accounts = self.group.accounts
        return {member: accounts[member].entitlement for member in self.weights}

    def has(self, weights: Mapping[str, int]) -> bool:
        """Say whether its namespaces and weights are these."""
        return {member.name: weight for member, weight in self.weights.items()} == weights

    def measure(self) -> dict[Member, int]:
        """Return the exponent of each namespace by its balance now, in steps of `bend`."""
        accounts, policy = self.group.accounts, self.policy
        self.exponents = {
            member: bend.exponent(
                self.group.balance(member),
                entitlement=accounts[member].entitlement,
                horizon_s=policy.horizon_s,
                bound=policy.bound,
            )
            for member in self.weights
        }
        return self.exponents

    def count(self, holding: Holding, sign: int) -> None:
        """Add a holding from the group's time on, or with sign -1 remove it."""
        if holding.local_queue is None:
            return
        member = namespace(namespace_of(holding.local_queue))
        self.group.know(member)
        for (flavor, resource), amount in holding.usage.items():
            use = self._use(member, flavor)
            use.amounts[resource] = use.amounts.get(resource, 0) + sign * amount
        if self.policy.class_factors:
            factor = self.policy.factor(holding.priority)
            for flavor, cost in self.policy.prices.by_flavor(holding.usage).items():
                self._use(member, flavor).classes.add(cost, factor, sign)

    def lose(self, holding: Holding, when: int, saved: int | None) -> None:
        """Note an eviction at `when`: the work since it was `saved`, or all of it, is lost.

        If it was saved, what was paid for the lost work is given back, for `REFUND_S` at most.
        """
        if holding.local_queue is None or when <= self.read_at:
            return
        self.advance(when)
        member = namespace(namespace_of(holding.local_queue))
        self.group.know(member)
        seconds = max(0, when - holding.unsaved_since(when, saved))
        for flavor, cost in self.policy.prices.by_flavor(holding.usage).items():
            use = self._uses.get((member, flavor))
            if use is None:
                continue
            loss = Loss(
                cost=cost,
                whole=max(cost, self.policy.prices.bill(flavor, use.amounts)),
                seconds=seconds,
                was_saved=saved is not None,
            )
            self.group.lose(member, flavor, loss)

    def _kept(self, standings: Mapping[Member, Standing]) -> tuple[int, int]:
        """Return the fraction (part, of) that is kept of surpluses, less than 1 if quota was cut.

        Namespaces that come or go change the parts of the others, and take nothing from them.
        """
        accounts = self.group.accounts.values()
        before = sum(one.entitlement for one in accounts if one.departed_at is None)
        after = sum(one.entitlement for one in standings.values())
        rounded_off = len(self.group.accounts) + len(standings)
        return (after, before) if standings and after + rounded_off < before else (1, 1)

    def _part(self, member: Member) -> Part:
        weight = self.weights.get(member)
        return NONE if weight is None else Part(weight, self._whole)

    def _use(self, member: Member, flavor: FlavorName) -> Use:
        place = member, flavor
        self._moved[place] = None
        found = self._uses.get(place)
        if found is None:
            found = self._uses[place] = Use()
        return found

    def _take_places(self) -> None:
        """Pass the positions that changed on to the group."""
        for place in self._moved:
            (member, flavor), use = place, self._uses[place]
            idle, borrowed = self._split.position(flavor, use.amounts, self._part(member))
            position = Position(idle, borrowed, use.classes.paying(borrowed))
            self.group.place(member, flavor, position)
        self._moved.clear()
