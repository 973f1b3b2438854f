"""What each event of `random_edits` does to a `LivingCluster`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from queueing.core.credits.facts import (
    MICRO,
    BudgetFact,
    CreditGone,
    CreditKind,
    CreditPolicyFact,
    HolderKind,
)
from queueing.core.credits.period import Period
from queueing.core.credits.prices import Prices
from queueing.core.facts import (
    Admission,
    CheckFact,
    ClusterQueueFact,
    CohortFact,
    Condition,
    FlavorFact,
    Gone,
    Kind,
    LocalQueueFact,
    NamespaceFact,
    PodSet,
    PodSetAssignment,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import FlavorName, FlavorResource, ResourceName, Uid
from queueing.core.selectors import Selector
from queueing.core.stakes import Stake
from queueing.testing.builders import check
from tests.lives.living import LivingCluster
from tests.lives.picks import (
    any_queue,
    any_waiting,
    any_workload,
    doors_of,
    pick,
    take_away_or_return,
)
from tests.lives.random_events import Event

Handler = Callable[[LivingCluster, Event], None]

# Of workloads.


def _again(cluster: LivingCluster, event: Event) -> None:
    """Use a name once more; True when nobody hears that the first one was deleted."""
    key = pick(sorted(cluster.workloads), event)
    if key is None:
        return
    old = cluster.workloads[key]
    cluster.put(Gone(Kind.WORKLOAD, key))
    if event.to:
        cluster.untold.pop()
    cluster.submitted += 1
    cluster.put(
        WorkloadFact(
            key=key,
            uid=Uid(f"{key}-{cluster.submitted:03}"),
            local_queue=old.local_queue,
            pod_sets=old.pod_sets,
            created=old.created,
            priority=old.priority,
        )
    )


def _ask(cluster: LivingCluster, event: Event) -> None:
    """Let a workload ask for something else, which it may while it holds nothing."""
    fact = any_waiting(cluster, event)
    if fact is not None and isinstance(event.to, tuple):
        cluster.put(replace(fact, pod_sets=event.to, reclaimable={}))


def _deleting(cluster: LivingCluster, event: Event) -> None:
    fact = any_workload(cluster, event)
    if fact is not None:
        cluster.put(replace(fact, deleting=True))


def _end_leaving(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.draining(), event)
    if key is not None:
        cluster.finish(key)


def _end_waiting(cluster: LivingCluster, event: Event) -> None:
    fact = any_waiting(cluster, event)
    if fact is not None:
        cluster.finish(fact.key)


def _pods_ready(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.running(), event)
    if key is not None:
        ready = Condition(type="PodsReady", status=bool(event.to))
        cluster.condition(cluster.workloads[key], ready)


def _reclaim_anywhere(cluster: LivingCluster, event: Event) -> None:
    """Let pods be over of whoever there is: who waits, runs, or is on the way out."""
    fact = any_workload(cluster, event)
    if fact is not None and fact.pod_sets and isinstance(event.to, int):
        last = fact.pod_sets[-1]
        over = min(last.count, fact.reclaimable.get(last.name, 0) + event.to)
        cluster.put(replace(fact, reclaimable={**fact.reclaimable, last.name: over}))


def _reserved(cluster: LivingCluster, event: Event) -> None:
    """Let a reservation turn up that another leader made of who waits, whatever it takes."""
    fact, queue = any_waiting(cluster, event), any_queue(cluster, event)
    if fact is None or queue is None or fact.is_true("Finished") or not isinstance(event.to, int):
        return
    pod_sets = tuple(_assigned(one, queue, event.to) for one in fact.pod_sets)
    cluster.condition(
        fact,
        Condition(type="QuotaReserved", status=True),
        Condition(type="Admitted", status=True),
        *(
            replace(fact.conditions[name], status=False)
            for name in ("Evicted", "Preempted")
            if fact.is_true(name)
        ),
        admission=Admission(cluster_queue=queue.name, pod_sets=pod_sets),
    )


def _assigned(pods: PodSet, queue: ClusterQueueFact, number: int) -> PodSetAssignment:
    flavors: dict[ResourceName, FlavorName] = {}
    for group in queue.groups:
        flavor = group.flavors[number % len(group.flavors)].flavor
        flavors.update({one: flavor for one in group.covered if one in pods.requests})
    usage = {one: pods.requests[one] * pods.count for one in flavors}
    return PodSetAssignment(name=pods.name, count=pods.count, flavors=flavors, usage=usage)


def _save(cluster: LivingCluster, event: Event) -> None:
    """Let a Job run beside one on its way out that saves for it, and be charged, too."""
    key = pick(cluster.draining(), event)
    fact = None if key is None else cluster.workloads[key]
    if fact is not None and fact.admission is not None and isinstance(event.to, int):
        used = [
            FlavorResource(flavor, resource)
            for one in fact.admission.pod_sets
            for resource, flavor in one.flavors.items()
        ]
        cluster.put(replace(fact, beside=dict.fromkeys(used[:1], event.to) if event.to else {}))


def _spare(cluster: LivingCluster, event: Event) -> None:
    """Let a victim stay: it could not save, or need not make room any more."""
    key = pick(cluster.draining(), event)
    if key is not None and isinstance(event.to, str):
        fact = cluster.workloads[key]
        cluster.condition(
            fact,
            *(
                Condition(type=name, status=False, reason=event.to)
                for name in ("Evicted", "Preempted")
                if fact.is_true(name)
            ),
        )


def _stake(cluster: LivingCluster, event: Event) -> None:
    fact = any_workload(cluster, event)
    if fact is not None and (event.to is None or isinstance(event.to, Stake)):
        cluster.put(replace(fact, stake=event.to))


def _ungate(cluster: LivingCluster, event: Event) -> None:
    """Let one that may not preempt do so, or the other way round."""
    fact = any_workload(cluster, event)
    if fact is not None:
        cluster.put(replace(fact, preemption_gated=not fact.preemption_gated))


# Of objects.


def _budget(cluster: LivingCluster, event: Event) -> None:
    """Give a queue a hard budget of so many credits; None takes all budgets away."""
    queue = any_queue(cluster, event)
    if isinstance(event.to, int) and queue is not None:
        made = BudgetFact(
            name=f"budget-{event.pick}",
            kind=HolderKind.CLUSTER_QUEUE,
            holder=queue.name,
            grant=event.to * MICRO,
            period=Period(600),
            blocks=bool(event.pick % 2),
            created=int(cluster.now),
        )
        _agree(cluster, made)
    elif event.to is None:
        for one in cluster.terms:
            if isinstance(one, BudgetFact):
                _agree(cluster, CreditGone(CreditKind.BUDGET, one.name))


def _credits(cluster: LivingCluster, event: Event) -> None:
    """Let there be another credit policy, or none."""
    if isinstance(event.to, tuple):
        minimum_runtime_s, orders = event.to
        made = CreditPolicyFact(
            name="policy",
            prices=Prices({(None, ResourceName("cpu")): MICRO}),
            half_life_s=400,
            horizon_s=60,
            minimum_runtime_s=minimum_runtime_s,
            non_borrowing_min_priority=3 if event.pick % 2 else None,
            orders_local_queues=orders,
        )
        _agree(cluster, made)
    else:
        _agree(cluster, CreditGone(CreditKind.POLICY, "policy"))


def _agree(cluster: LivingCluster, term: CreditPolicyFact | BudgetFact | CreditGone) -> None:
    kept = (one for one in cluster.terms if getattr(one, "name", "") != term.name)
    cluster.terms = (*kept, *(() if isinstance(term, CreditGone) else (term,)))
    cluster.engine.observe(term)


def _check_object(cluster: LivingCluster, event: Event) -> None:
    """Let the check of all queues be active or not, or let it go, or come back."""
    if event.to is None:
        take_away_or_return(cluster, event, Kind.CHECK)
        return
    found = [one for one in cluster.objects.values() if isinstance(one, CheckFact)]
    fact = pick(found, event)
    if fact is not None:
        cluster.put(replace(fact, active=bool(event.to)))


def _door(cluster: LivingCluster, event: Event) -> None:
    """Take a LocalQueue away, or bring one back, perhaps as one that leads elsewhere."""
    lost = {place: one for place, one in cluster.removed.items() if place[0] == "LOCAL_QUEUE"}
    for place, fact in lost.items():
        queues = cluster.queues()
        if isinstance(fact, LocalQueueFact) and isinstance(event.to, int) and queues:
            leads_to = queues[event.to % len(queues)].name
            cluster.removed[place] = replace(fact, cluster_queue=leads_to)
    take_away_or_return(cluster, event, Kind.LOCAL_QUEUE)


def _groups(cluster: LivingCluster, event: Event) -> None:
    """Give a queue other flavors and resources, whatever is held of those that it had."""
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, tuple):
        cluster.put(replace(queue, groups=event.to))


def _labels(cluster: LivingCluster, event: Event) -> None:
    found = [one for one in cluster.objects.values() if isinstance(one, NamespaceFact)]
    fact = pick(found, event)
    if fact is not None:
        cluster.put(replace(fact, labels={**fact.labels, "tier": str(event.to)}))


def _limit(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and (event.to is None or isinstance(event.to, int)):
        cluster.put(replace(queue, preemptions_max=event.to))


def _limit_of_cohort(cluster: LivingCluster, event: Event) -> None:
    found = [one for one in cluster.objects.values() if isinstance(one, CohortFact)]
    fact = pick(found, event)
    if fact is not None and (event.to is None or isinstance(event.to, int)):
        cluster.put(replace(fact, preemptions_max=event.to))


def _misconfigured(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None:
        cluster.put(replace(queue, misconfigured=str(event.to)))


def _more_checks(cluster: LivingCluster, event: Event) -> None:
    """Give a queue other checks; the second of them begins to exist when it is named."""
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, tuple):
        cluster.put(check("second"))
        cluster.put(replace(queue, checks=event.to))


def _offer(cluster: LivingCluster, event: Event) -> None:
    """Let a flavor have other devices."""
    found = [one for one in cluster.objects.values() if isinstance(one, FlavorFact)]
    fact = pick(found, event)
    if fact is not None and isinstance(event.to, Mapping):
        cluster.put(replace(fact, devices=event.to))


def _selector(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and (event.to is None or isinstance(event.to, Selector)):
        cluster.put(replace(queue, namespace_selector=event.to))


def _take_turns(cluster: LivingCluster, event: Event) -> None:
    """Let the LocalQueues of a queue take turns, or not, and one of them weigh more."""
    queue, door = any_queue(cluster, event), pick(doors_of(cluster), event)
    if queue is not None:
        cluster.put(replace(queue, admission_fair_sharing=bool(event.to)))
    if door is not None:
        cluster.put(replace(door, fair_weight=door.fair_weight + 1))


def _taint(cluster: LivingCluster, event: Event) -> None:
    found = [one for one in cluster.objects.values() if isinstance(one, FlavorFact)]
    fact = pick(found, event)
    if fact is not None and isinstance(event.to, tuple):
        cluster.put(replace(fact, taints=event.to))


def _topology(cluster: LivingCluster, event: Event) -> None:
    """Let a flavor name a topology that comes and goes."""
    found = [one for one in cluster.objects.values() if isinstance(one, FlavorFact)]
    fact = pick(found, event)
    if fact is not None:
        cluster.put(replace(fact, topology=None if event.to is None else str(event.to)))
    if event.pick % 2:
        cluster.put(TopologyFact(name="rack", levels=("rack", "host")))
    elif (Kind.TOPOLOGY.name, "rack") in cluster.objects:
        cluster.put(Gone(Kind.TOPOLOGY, "rack"))


def _object(cluster: LivingCluster, event: Event) -> None:
    """Let an object be as the event has it, or be gone."""
    cluster.put(event.to)  # type: ignore[arg-type] # a fact


# Of the engine.


def _clock(cluster: LivingCluster, event: Event) -> None:
    """Let the clock be set back."""
    if isinstance(event.to, float):
        cluster.now += event.to


def _lag(cluster: LivingCluster, event: Event) -> None:
    """Let nothing be heard of a workload until somebody asks."""
    fact = any_workload(cluster, event)
    if fact is not None:
        cluster.unanswered[fact.key] = None


def _portion(cluster: LivingCluster, event: Event) -> None:
    """Run a part of a cycle: what happens next comes in the middle of it."""
    if isinstance(event.to, int):
        cluster.cycle(event.to)


EDITS: Mapping[str, Handler] = MappingProxyType(
    {
        "again": _again,
        "ask": _ask,
        "deleting": _deleting,
        "end leaving": _end_leaving,
        "end waiting": _end_waiting,
        "pods ready": _pods_ready,
        "reclaim anywhere": _reclaim_anywhere,
        "reserved": _reserved,
        "save": _save,
        "spare": _spare,
        "stake": _stake,
        "ungate": _ungate,
        "budget": _budget,
        "credits": _credits,
        "check object": _check_object,
        "door": _door,
        "groups": _groups,
        "labels": _labels,
        "limit": _limit,
        "limit of cohort": _limit_of_cohort,
        "misconfigured": _misconfigured,
        "more checks": _more_checks,
        "offer": _offer,
        "selector": _selector,
        "take turns": _take_turns,
        "taint": _taint,
        "topology": _topology,
        "object": _object,
        "clock": _clock,
        "lag": _lag,
        "portion": _portion,
    }
)
