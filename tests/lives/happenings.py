"""What each event of `random_events` does to a `LivingCluster`."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar

from queueing.core.facts import (
    CheckPhase,
    ClusterQueueFact,
    CohortFact,
    Condition,
    Gone,
    Kind,
    Preemption,
    StopPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorQuotas, Fungibility, Quota, ResourceGroup
from queueing.core.names import CohortName, Key, Uid, namespace_of
from queueing.core.settings import Compatibility
from tests.lives.edits import EDITS, Handler
from tests.lives.living import LivingCluster
from tests.lives.picks import (
    any_queue,
    any_waiting,
    any_workload,
    doors_of,
    pick,
    take_away_or_return,
)
from tests.lives.random_events import Event, Life, Step

Cluster = TypeVar("Cluster", bound=LivingCluster)


def play(cluster: LivingCluster, step: Step) -> None:
    """Let one step of a history happen, and take its course."""
    if isinstance(step, WorkloadFact):
        submit(cluster, step)
    else:
        _HANDLERS[step.kind](cluster, step)
    cluster.tend()
    if not cluster.late:
        cluster.tell()


def lived(kind: type[Cluster], life: Life) -> Cluster:
    """Return a cluster of this kind in which a whole life has happened."""
    cluster = kind.of(life)
    for step in life.steps:
        play(cluster, step)
    return cluster


def submit(cluster: LivingCluster, fact: WorkloadFact) -> None:
    """Create a workload under the next free name, in a queue that exists if there is one."""
    space = namespace_of(fact.key)
    key = Key(f"{space}/job-{cluster.submitted:03}")
    doors = [one.key for one in doors_of(cluster) if namespace_of(one.key) == space]
    door = fact.local_queue
    if doors and door not in doors:
        door = doors[ord(fact.key[-1] if door is None else door[-1]) % len(doors)]
    cluster.submitted += 1
    cluster.put(replace(fact, key=key, uid=Uid(key), local_queue=door))


# Every day.


def _cycle(cluster: LivingCluster, _: Event) -> None:
    cluster.cycle()


def _rest(cluster: LivingCluster, _: Event) -> None:
    if cluster.settings.compatibility is Compatibility.QUEUEING:
        cluster.rest()
        return
    for _turn in range(3):
        cluster.answer()
        cluster.cycle()
        for key in cluster.draining():
            cluster.drain(key)
        cluster.tend()


def _finish(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.running(), event)
    if key is not None:
        cluster.finish(key)


def _drain(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.draining(), event)
    if key is not None:
        cluster.drain(key)


# Of workloads.


def _gone(cluster: LivingCluster, event: Event) -> None:
    key = pick(sorted(cluster.workloads), event)
    if key is not None:
        cluster.put(Gone(Kind.WORKLOAD, key))


def _priority(cluster: LivingCluster, event: Event) -> None:
    fact = any_workload(cluster, event)
    if fact is not None and isinstance(event.to, int):
        cluster.put(replace(fact, priority=event.to))


def _reclaim(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.running(), event)
    if key is None or not isinstance(event.to, int):
        return
    fact = cluster.workloads[key]
    if not fact.pod_sets:
        return
    first = fact.pod_sets[0]
    before = fact.reclaimable.get(first.name, 0)
    now = min(first.count, before + event.to)
    cluster.put(replace(fact, reclaimable={**fact.reclaimable, first.name: now}))


def _shrink(cluster: LivingCluster, event: Event) -> None:
    """Let a slice of an elastic job be for fewer pods of its first set."""
    slices = [key for key in cluster.running() if cluster.workloads[key].slice_of]
    key = pick(slices, event)
    if key is None or not isinstance(event.to, int):
        return
    fact = cluster.workloads[key]
    first, *others = fact.pod_sets
    fewer = replace(first, count=max(first.count - event.to, 0))
    needless = min(fact.reclaimable.get(first.name, 0), fewer.count)
    reclaimable = {**fact.reclaimable, first.name: needless}
    cluster.put(replace(fact, pod_sets=(fewer, *others), reclaimable=reclaimable))


def _check(cluster: LivingCluster, event: Event) -> None:
    asked = [key for key in cluster.running() if cluster.workloads[key].checks]
    key = pick(asked, event)
    if key is not None and isinstance(event.to, str):
        fact = cluster.workloads[key]
        state = CheckPhase(event.to)
        checks = tuple(replace(one, state=state, changed=cluster.now) for one in fact.checks)
        cluster.put(replace(fact, checks=checks))


def _evict(cluster: LivingCluster, event: Event) -> None:
    key = pick(cluster.running(), event)
    if key is not None and isinstance(event.to, int):
        fact = cluster.workloads[key]
        cluster.condition(
            fact,
            Condition(type="Evicted", status=True, reason="PodsReadyTimeout"),
            requeue_at=cluster.now + event.to,
            requeue_count=fact.requeue_count + 1,
        )


def _deactivate(cluster: LivingCluster, event: Event) -> None:
    fact = any_workload(cluster, event)
    if fact is not None:
        cluster.put(replace(fact, active=not fact.active))


def _gate(cluster: LivingCluster, event: Event) -> None:
    fact = any_waiting(cluster, event)
    if fact is not None:
        gates = () if fact.admission_gates else ("gate",)
        cluster.put(replace(fact, admission_gates=gates))


def _move(cluster: LivingCluster, event: Event) -> None:
    fact = any_waiting(cluster, event)
    doors = doors_of(cluster)
    if fact is not None and doors and isinstance(event.to, int):
        cluster.put(replace(fact, local_queue=doors[event.to % len(doors)].key))


def _time(cluster: LivingCluster, event: Event) -> None:
    if isinstance(event.to, float):
        cluster.now += event.to


# Of objects.


def _quota(cluster: LivingCluster, event: Event) -> None:
    queue, made = any_queue(cluster, event), event.to
    if queue is None or not queue.groups or not isinstance(made, Quota):
        return
    if queue.cohort is None:
        made = Quota(nominal=made.nominal)
    group = queue.groups[event.pick % len(queue.groups)]
    at = event.pick % len(group.flavors)
    edited = FlavorQuotas(
        flavor=group.flavors[at].flavor, quotas=tuple((one, made) for one in group.covered)
    )
    flavors = (*group.flavors[:at], edited, *group.flavors[at + 1 :])
    changed = ResourceGroup(covered=group.covered, flavors=flavors)
    groups = tuple(changed if one is group else one for one in queue.groups)
    cluster.put(replace(queue, groups=groups))


def _policy(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, Preemption):
        cluster.put(replace(queue, preemption=event.to))


def _fungibility(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, Fungibility):
        cluster.put(replace(queue, fungibility=event.to))


def _weight(cluster: LivingCluster, event: Event) -> None:
    weighed = [
        one for one in cluster.objects.values() if isinstance(one, ClusterQueueFact | CohortFact)
    ]
    fact = pick(weighed, event)
    if fact is not None and isinstance(event.to, Fraction):
        cluster.put(replace(fact, fair_weight=event.to, fair_divisor=None))


def _stop(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, str):
        cluster.put(replace(queue, stop_policy=StopPolicy(event.to)))


def _stop_local(cluster: LivingCluster, event: Event) -> None:
    door = pick(doors_of(cluster), event)
    if door is not None and isinstance(event.to, str):
        cluster.put(replace(door, stop_policy=StopPolicy(event.to)))


def _reparent(cluster: LivingCluster, event: Event) -> None:
    """Hang a cohort elsewhere, unless that would close a ring."""
    cohorts = {one.name: one for one in cluster.objects.values() if isinstance(one, CohortFact)}
    fact = pick(list(cohorts.values()), event)
    parent = CohortName(event.to) if isinstance(event.to, str) else None
    above, left = parent, len(cohorts)
    while above in cohorts and fact is not None:
        if above == fact.name or not left:  # a ring of others has no end to walk to
            return
        above, left = cohorts[above].parent, left - 1
    if fact is not None and (parent != fact.name):
        groups = () if parent is None else fact.groups
        cluster.put(replace(fact, parent=parent, groups=groups))


def _adopt(cluster: LivingCluster, event: Event) -> None:
    """Let a queue change its cohort; limits mean nothing without one."""
    queue = any_queue(cluster, event)
    if queue is None:
        return
    if isinstance(event.to, str):
        cluster.put(replace(queue, cohort=CohortName(event.to)))
    else:
        cluster.put(replace(queue, cohort=None, groups=tuple(map(_unlimited, queue.groups))))


def _unlimited(group: ResourceGroup) -> ResourceGroup:
    return replace(
        group,
        flavors=tuple(
            replace(
                one,
                quotas=tuple((name, Quota(nominal=had.nominal)) for name, had in one.quotas),
            )
            for one in group.flavors
        ),
    )


def _flavor(cluster: LivingCluster, event: Event) -> None:
    take_away_or_return(cluster, event, Kind.FLAVOR)


def _queue(cluster: LivingCluster, event: Event) -> None:
    take_away_or_return(cluster, event, Kind.CLUSTER_QUEUE)


def _cohort(cluster: LivingCluster, event: Event) -> None:
    take_away_or_return(cluster, event, Kind.COHORT)


def _cohort_quota(cluster: LivingCluster, event: Event) -> None:
    """Let a cohort have this much of a flavor of its own, whatever it had."""
    found = [one for one in cluster.objects.values() if isinstance(one, CohortFact)]
    fact, queue = pick(found, event), any_queue(cluster, event)
    if fact is None or queue is None or not queue.groups or not isinstance(event.to, Quota):
        return
    group, made = queue.groups[0], event.to
    own = FlavorQuotas(
        flavor=group.flavors[0].flavor, quotas=tuple((one, made) for one in group.covered)
    )
    cluster.put(replace(fact, groups=(ResourceGroup(covered=group.covered, flavors=(own,)),)))


def _checks(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None and isinstance(event.to, tuple):
        cluster.put(replace(queue, checks=event.to))


def _strategy(cluster: LivingCluster, event: Event) -> None:
    queue = any_queue(cluster, event)
    if queue is not None:
        strict = queue.strategy is Strategy.STRICT_FIFO
        other = Strategy.BEST_EFFORT_FIFO if strict else Strategy.STRICT_FIFO
        cluster.put(replace(queue, strategy=other))


# Of writes.


def _refuse(cluster: LivingCluster, event: Event) -> None:
    cluster.refuse = event.pick


def _unknown(cluster: LivingCluster, event: Event) -> None:
    if cluster.unanswered:
        cluster.answer()
    else:
        cluster.lose = event.pick, bool(event.to)


def _late(cluster: LivingCluster, _: Event) -> None:
    cluster.late = True


def _restart(cluster: LivingCluster, _: Event) -> None:
    cluster.restart()


_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "cycle": _cycle,
        "rest": _rest,
        "finish": _finish,
        "drain": _drain,
        "gone": _gone,
        "priority": _priority,
        "reclaim": _reclaim,
        "shrink": _shrink,
        "check": _check,
        "evict": _evict,
        "deactivate": _deactivate,
        "gate": _gate,
        "move": _move,
        "time": _time,
        "quota": _quota,
        "policy": _policy,
        "fungibility": _fungibility,
        "weight": _weight,
        "stop": _stop,
        "stop local": _stop_local,
        "reparent": _reparent,
        "adopt": _adopt,
        "flavor": _flavor,
        "queue": _queue,
        "strategy": _strategy,
        "cohort": _cohort,
        "cohort quota": _cohort_quota,
        "checks": _checks,
        "refuse": _refuse,
        "unknown": _unknown,
        "late": _late,
        "restart": _restart,
        **EDITS,
    }
)
