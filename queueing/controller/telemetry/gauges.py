"""Gauges of queues and cohorts: quotas, usage, shares, numbers of workloads, credit balances.

What changed is only remembered, and measured when somebody scrapes, in portions, so that a thousand
queues do not block the event loop. Each scrape also measures some queues that did not change, so
that a gauge whose change was not noticed becomes correct after a while.
"""

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from queueing.controller.queues.cohorts import CohortTree
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry import workload_gauges
from queueing.controller.telemetry.queue_metrics import QueueMetrics, local_labels
from queueing.core.admission_fair_sharing import whole_units
from queueing.core.credits.facts import MICRO, PART
from queueing.core.flavor_quotas import Quota
from queueing.core.names import (
    CohortName,
    FlavorResource,
    Key,
    QueueName,
    name_of,
    namespace_of,
)
from queueing.core.selectors import Selector, selects
from queueing.observe.metric_rows import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE
from queueing.observe.metrics import Family, Metrics
from queueing.reports import queues as reports
from queueing.reports.views import Charged, QueueView
from queueing.state.engine import Engine
from queueing.state.memory.memory import Changed
from queueing.translate.inbound.queues import cluster_queue as cluster_queue_fact
from queueing.translate.wire.queues import LocalQueue

TURN = 64
"""How many queues, and how many cohorts, are measured with each scrape although unchanged."""
AT_ONCE = 24
"""How many objects are measured before the event loop may run other tasks: about 5 ms."""

LIMITS: Mapping[str, Callable[[Quota], int | None]] = MappingProxyType(
    {
        "cluster_queue_nominal_quota": lambda quota: quota.nominal,
        "cluster_queue_borrowing_limit": lambda quota: quota.borrowing_limit,
        "cluster_queue_lending_limit": lambda quota: quota.lending_limit,
    }
)
"""Each amount; None where there is no limit, which is shown as infinity."""

N = TypeVar("N", bound=str)


@dataclass(slots=True)
class Turn:
    """A position in a list of names that goes round and round."""

    at: int = 0

    def next(self, names: Sequence[N]) -> Iterator[N]:
        """Yield the next `TURN` names, none twice."""
        for _ in range(min(TURN, len(names))):
            self.at = (self.at + 1) % len(names)
            yield names[self.at]


@dataclass(slots=True)
class ChosenQueues:
    """The choice by labels, and what it came to when somebody scraped last."""

    selector: Selector
    queues: Mapping[Key, LocalQueue]
    _seen: dict[Key, bool] = field(default_factory=dict)

    def __contains__(self, key: Key) -> bool:
        """Say whether a LocalQueue has metrics; one that does not exist has no labels."""
        queue = self.queues.get(key)
        return selects(self.selector, queue.metadata.labels if queue is not None else {})

    def changed(self) -> list[Key]:
        """Return the LocalQueues that are chosen now and were not before, or the other way."""
        seen, self._seen = self._seen, {key: key in self for key in self.queues}
        return [key for key, chosen in self._seen.items() if seen.get(key) is not chosen]


@dataclass(slots=True)
class Gauges:
    """Measures the queues of one term, into the term's metrics."""

    metrics: Metrics
    engine: Engine
    objects: Objects
    fair: bool
    """Whether fair sharing is on, so that shares exist."""
    chosen: ChosenQueues | None = None
    """The LocalQueues that have metrics; None: all."""
    _queues: Turn = field(default_factory=Turn)
    _cohorts: Turn = field(default_factory=Turn)
    _tree: CohortTree = field(default_factory=CohortTree)
    _admitted: dict[str, int] = field(default_factory=dict)
    """Admitted workloads by ClusterQueue, as measured last."""
    _shown: dict[str, tuple[object, Sequence[CohortName]]] = field(default_factory=dict)
    """The spec of each ClusterQueue and the cohorts above it, as the series show them."""
    _due: dict[QueueName, None] = field(default_factory=dict)
    _due_local_queues: dict[Key, None] = field(default_factory=dict)
    _due_cohorts: dict[CohortName, None] = field(default_factory=dict)
    """What is to be measured at the next scrape; what changed first comes first."""
    _measuring: asyncio.Lock = field(default_factory=asyncio.Lock)

    def note(self, changed: Changed) -> None:
        """Remember what changed until the next scrape."""
        self._due |= dict.fromkeys(changed.cluster_queues)
        self._due_local_queues |= dict.fromkeys(changed.local_queues)
        self._due_cohorts |= dict.fromkeys(changed.cohorts)
        workload_gauges.observe_releases(self.metrics, self.objects.workload_counts)

    async def bring_up_to_date(self) -> None:
        """Measure what changed, in portions; a second call waits for the first one."""
        async with self._measuring:
            for number, _ in enumerate(self.measure(), start=1):
                if number % AT_ONCE == 0:
                    await asyncio.sleep(0)

    def measure(self) -> Iterator[None]:
        """Measure what changed until now, and some others; one object per step of the iterator."""
        self._tree = CohortTree.of(self.objects)
        self._balances()
        self._claims()
        tree = self._tree
        queues, self._due = self._due, {}
        local_queues, self._due_local_queues = self._due_local_queues, {}
        if self.chosen is not None:
            local_queues |= dict.fromkeys(self.chosen.changed())
        workload_gauges.measure(self.metrics, self.objects, anew=bool(queues or local_queues))
        for name in queues | dict.fromkeys(self._queues.next(tree.queues)):
            self._cluster_queue(name)
            self._due_cohorts |= dict.fromkeys(tree.above(name))
            yield
        for key in local_queues:
            self._local_queue(key)
            yield
        cohorts, self._due_cohorts = self._due_cohorts, {}
        for cohort in cohorts | dict.fromkeys(self._cohorts.next(tree.cohorts)):
            self._cohort(cohort)
            yield
        self._drop_what_is_gone()

    def _drop_what_is_gone(self) -> None:
        """Drop the series of objects that are gone or not chosen, with what was counted since.

        Other tasks ran meanwhile: what goes is decided by the objects as they are now. Of a
        ClusterQueue that lost series it is forgotten what they show, so that they come back.
        """
        metrics, objects = self.metrics, self.objects
        self._tree = CohortTree.of(objects)
        for name, (_, above) in list(self._shown.items()):
            if name not in objects.cluster_queues:
                del self._shown[name], self._admitted[name]
            elif not all(cohort in self._tree.members for cohort in above):
                del self._shown[name]
        metrics.keep_only(CLUSTER_QUEUE, {(name,) for name in objects.cluster_queues})
        metrics.keep_only(COHORT, {(name,) for name in self._tree.members})
        kept = filter(self._is_measured, objects.local_queues)
        metrics.keep_only(LOCAL_QUEUE, {(name_of(key), namespace_of(key)) for key in kept})

    def _is_measured(self, key: Key) -> bool:
        return self.chosen is None or key in self.chosen

    # ClusterQueues ----------------------------------------------------------------------------

    def _cluster_queue(self, name: QueueName) -> None:
        view = reports.cluster_queue(self.engine.memory, name)
        if view is None:
            return
        QueueMetrics(self.metrics).measure(name, view)
        self._admitted[name] = view.admitted
        above = self.objects.cohorts_above(name)
        cohort = above[0] if above else ""
        self._specified(name, above)
        if self.fair:
            shares = self.metrics.cluster_queue_weighted_share
            only(shares, {"cluster_queue": name}, [({"cohort": cohort}, view.weighted_share)])
        active, parked = reports.shapes(self.engine.memory, name)
        hashes = self.metrics.pending_scheduling_hashes
        hashes.labels(cluster_queue=name, status="active").set(active)
        hashes.labels(cluster_queue=name, status="inadmissible").set(parked)
        self._resources(name, cohort, view)

    def _resources(self, name: QueueName, cohort: str, view: QueueView) -> None:
        mine = {"cluster_queue": name}
        held = {
            "cluster_queue_resource_reservation": view.reservation,
            "cluster_queue_resource_usage": view.usage,
        }
        for kind, charged in held.items():
            only(self._family(kind), mine, charges({"cohort": cohort}, charged))

    def _specified(self, name: QueueName, above: Sequence[CohortName]) -> None:
        """Set what follows from the spec of a ClusterQueue, and from the cohorts above it."""
        found = self.objects.cluster_queues.get(name)
        spec = None if found is None else found.spec
        if self._shown.get(name) == (spec, above):
            return
        self._shown[name] = spec, above
        mine = {"cluster_queue": str(name)}
        self._info("cluster_queue_info", mine, above)
        cohort = above[0] if above else ""
        groups = () if found is None else cluster_queue_fact(found).groups
        quotas = [
            ({"cohort": cohort, "flavor": flavor.flavor, "resource": resource}, resource, quota)
            for group in groups
            for flavor in group.flavors
            for resource, quota in flavor.quotas
        ]
        for kind, limit in LIMITS.items():
            told = [
                (labels, math.inf if value is None else whole_units(resource, value))
                for labels, resource, value in (
                    (labels, resource, limit(quota)) for labels, resource, quota in quotas
                )
            ]
            only(self._family(kind), mine, told)

    # LocalQueues ------------------------------------------------------------------------------

    def _local_queue(self, key: Key) -> None:
        view = reports.local_queue(self.engine.memory, key)
        if view is None or not self._is_measured(key):
            return
        labels = local_labels(key)
        leads_on = self.objects.local_queues[key].spec.cluster_queue in self.objects.cluster_queues
        QueueMetrics(self.metrics).measure_local(key, view, leads_on=leads_on)
        held = {
            "local_queue_resource_reservation": view.reservation,
            "local_queue_resource_usage": view.usage,
        }
        for kind, charged in held.items():
            only(self._family(kind), labels, charges({}, charged))
        history = view.history
        told = []
        if history is not None:
            queue = self.objects.local_queues[key].spec.cluster_queue
            told = [({"cluster_queue": queue}, history.usage)]
        only(self.metrics.local_queue_admission_fair_sharing_usage, labels, told)

    # Cohorts ----------------------------------------------------------------------------------

    def _cohort(self, name: CohortName) -> None:
        view = reports.cohort(self.engine.memory, name)
        if view is None:
            return
        found = self.objects.cohorts.get(name)
        above = self.objects.cohorts_from(found.spec.parent_name if found is not None else "")
        self._info("cohort_info", {"cohort": name}, above)
        if self.fair:
            self.metrics.cohort_weighted_share.labels(cohort=name).set(view.weighted_share)
        mine = {"cohort": name}
        quota = [
            (place(one), whole_units(one.resource, value)) for one, value in view.quota.items()
        ]
        only(self.metrics.cohort_subtree_quota, mine, quota)
        family = self.metrics.cohort_subtree_resource_reservations
        only(family, mine, charges({}, view.usage))
        admitted = sum(self._admitted.get(one, 0) for one in self._tree.members.get(name, ()))
        self.metrics.cohort_subtree_admitted_active_workloads.labels(**mine).set(admitted)

    # Devices ----------------------------------------------------------------------------------

    def _claims(self) -> None:
        """Count the claims that hold devices for Workloads that hold no quota, or are to leave."""
        claimants = self.objects.devices.claimants()
        left = sum(count for uid, count in claimants.items() if not self._is_at_home(uid))
        self.metrics.device_claims_left.labels().set(left)

    def _is_at_home(self, uid: str) -> bool:
        """Say whether a Workload, by uid, holds quota and is not to leave."""
        key = self.objects.workload_keys.get(uid)
        if key is None:
            return False
        status = self.objects.workloads[key].status
        over = status.is_true("Evicted") or status.is_true("Finished")
        return status.admission is not None and not over

    # Credits ----------------------------------------------------------------------------------

    def _balances(self) -> None:
        """Set credit balances of queues, cohorts and namespaces; none without a CreditPolicy."""
        found: dict[str, dict[tuple[str, ...], float]] = {
            "ClusterQueue": {},
            "Cohort": {},
            "Namespace": {},
        }
        for account in self.engine.credits.accounts():
            for child in account.children:
                if child.departed_at is None:
                    whose: tuple[str, ...] = (child.member.name,)
                    if account.queue is not None:
                        whose = (account.queue, *whose)
                    found[child.member.kind][whose] = child.balance / (PART * MICRO)
        self.metrics.credit_balance.replace_all(found["ClusterQueue"])
        self.metrics.cohort_credit_balance.replace_all(found["Cohort"])
        self.metrics.namespace_credit_balance.replace_all(found["Namespace"])

    def _info(self, name: str, mine: dict[str, str], above: Sequence[str]) -> None:
        parent = above[0] if above else ""
        root = above[-1] if above else mine.get("cohort", "")
        only(self._family(name), mine, [({"parent_cohort": parent, "root_cohort": root}, 1)])

    def _family(self, name: str) -> Family:
        family: Family = getattr(self.metrics, name)
        return family


def place(one: FlavorResource) -> dict[str, str]:
    """Return the labels of a flavor-resource."""
    return {"flavor": one.flavor, "resource": one.resource}


def charges(
    more: Mapping[str, str], charged: Mapping[FlavorResource, Charged]
) -> Iterator[tuple[dict[str, str], float]]:
    """Yield the labels and the amount of each charge."""
    for one, it in charged.items():
        yield {**more, **place(one)}, whole_units(one.resource, it.total)


def only(
    family: Family,
    mine: Mapping[str, str],
    values: Iterable[tuple[Mapping[str, str], float]],
) -> None:
    """Set exactly these series of all that carry `mine`."""
    if family.is_off:
        return
    wanted = {
        tuple({**mine, **labels}[label] for label in family.row.labels): value
        for labels, value in values
    }
    family.replace_those(mine, wanted)
