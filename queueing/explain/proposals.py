"""Changes of the workload itself that may help it; which of them do, `remedies` finds out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from queueing.core.entries import Ruling
from queueing.core.facts import Fact, FlavorFact, LocalQueueFact, PodSet, StopPolicy, WorkloadFact
from queueing.core.names import (
    FlavorName,
    FlavorResource,
    Key,
    PodSetName,
    ResourceName,
    name_of,
    namespace_of,
)
from queueing.core.quantities import quantity
from queueing.core.reasons import Uncovered
from queueing.core.selectors import Taint, Toleration, untolerated
from queueing.core.topology.requests import PODS
from queueing.explain.model import Edit, Remedy
from queueing.explain.probe import lack_of, obstacles
from queueing.state.memory.memory import Memory

PRIORITIES = 8
"""How many higher priorities are tried."""
QUEUES = 4
"""How many other LocalQueues are tried."""
HALVES = 6
"""How often a declared execution time is halved."""
GRAINS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "cpu": (1_000, 500, 100, 50, 10),
        "memory": tuple(one * 1024**2 for one in (1024, 512, 256, 64, 16, 1)),
        "ephemeral-storage": tuple(one * 1024**2 for one in (1024, 512, 256, 64, 16, 1)),
    }
)
"""Amounts are rounded down to the first of these that is at most a quarter of them."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A remedy that is to be tried, and the fact that the cluster would show after it."""

    kind: str
    who: str
    text: str
    edits: tuple[Edit, ...]
    fact: Fact

    def remedy(self, result: str, victims: Sequence[str]) -> Remedy:
        """Return it as one that works."""
        return Remedy(
            kind=self.kind,
            who=self.who,
            text=self.text,
            result=result,
            edits=self.edits,
            victims=tuple(victims),
        )


def smaller(fact: WorkloadFact, ruling: Ruling) -> Iterator[Proposal]:
    """Propose requests, and numbers of pods, that fit in what one of its flavors has left."""
    sets = {one.name: one for one in fact.pod_sets}
    counts = {one.pod_set.name: one.count for one in ruling.entry.head.demand.pod_sets}
    for name, flavor, short in _shortages(ruling):
        pod_set = sets.get(PodSetName(name))
        if pod_set is None:
            continue
        each = {PODS: 1, **pod_set.requests}
        if any(one not in each for one in short):
            continue
        count = counts.get(pod_set.name, pod_set.count)
        if not count:
            continue
        less = {
            one: _rounded(one, (each[one] * count - missing) // count)
            for one, missing in short.items()
        }
        fixed = {PODS, *(ask.resource for ask in pod_set.devices)}
        if all(amount > 0 for amount in less.values()) and not fixed & less.keys():
            yield _asking(fact, pod_set, flavor, less)
        fewer = min(count - -(-missing // each[one]) for one, missing in short.items())
        if 0 < fewer < count and count == pod_set.count:
            yield _fewer(fact, pod_set, flavor, fewer)


def without_uncovered(fact: WorkloadFact, ruling: Ruling) -> Iterator[Proposal]:
    """Propose to leave out resources that the queue does not have."""
    unknown = {one.resource for _, one in obstacles(ruling) if isinstance(one, Uncovered)}
    for name in sorted(unknown):
        having = [one for one in fact.pod_sets if name in one.requests]
        if not having:  # its ResourceClaims ask for it
            continue
        edits = tuple(
            _edit(
                fact,
                f"requests.{name} of each pod of {one.name}",
                quantity(name, one.requests[name]),
                "",
            )
            for one in having
        )
        made = tuple(
            replace(one, requests={key: one.requests[key] for key in one.requests if key != name})
            for one in fact.pod_sets
        )
        queue = ruling.entry.node.name
        text = f"Request no {name}, of which ClusterQueue {queue} has no quota; or correct the name"
        yield Proposal("AskLess", "Team", text, edits, replace(fact, pod_sets=made))


def fewer_pods(fact: WorkloadFact, ruling: Ruling | None) -> Iterator[Proposal]:
    """Propose only numbers of pods that fit."""
    for one in () if ruling is None else smaller(fact, ruling):
        if one.kind == "FewerPods":
            yield one


def _asking(
    fact: WorkloadFact, pod_set: PodSet, flavor: FlavorName, less: dict[ResourceName, int]
) -> Proposal:
    told = " and ".join(f"{quantity(one, amount)} {one}" for one, amount in sorted(less.items()))
    edits = tuple(
        _edit(
            fact,
            f"requests.{one} of each pod of {pod_set.name}",
            quantity(one, pod_set.requests[one]),
            quantity(one, amount),
        )
        for one, amount in sorted(less.items())
    )
    each = "each pod" if len(fact.pod_sets) == 1 else f"each pod of {pod_set.name}"
    text = f"Request at most {told} for {each}: that fits in flavor {flavor}"
    made = replace(pod_set, requests={**pod_set.requests, **less})
    return Proposal("AskLess", "Team", text, edits, _with(fact, pod_set, made))


def _fewer(fact: WorkloadFact, pod_set: PodSet, flavor: FlavorName, count: int) -> Proposal:
    whose = "" if len(fact.pod_sets) == 1 else f" of {pod_set.name}"
    text = f"Run {count} of {pod_set.count} pods{whose}: that fits in flavor {flavor}"
    edit = _edit(fact, f"pods of {pod_set.name}", str(pod_set.count), str(count))
    least = None if pod_set.min_count is None else min(pod_set.min_count, count)
    made = replace(pod_set, count=count, min_count=least)
    return Proposal("FewerPods", "Team", text, (edit,), _with(fact, pod_set, made))


def _shortages(
    ruling: Ruling,
) -> Iterator[tuple[str, FlavorName, dict[ResourceName, int]]]:
    """Yield what is missing per pod set and flavor, the smallest part of the request first."""
    found: dict[tuple[str, FlavorName], dict[ResourceName, int]] = {}
    asked: dict[FlavorResource, int] = {}
    for name, one in obstacles(ruling):
        lack = lack_of(one)
        if lack is not None:
            asked[lack.resource] = lack.asked
            short = found.setdefault((name, lack.resource.flavor), {})
            missing = lack.missing
            if lack.capacity:
                free = max(0, ruling.entry.node.cell(lack.resource).available())
                missing = lack.asked - free
            short[lack.resource.resource] = missing

    def part(one: tuple[tuple[str, FlavorName], dict[ResourceName, int]]) -> float:
        (_, flavor), short = one
        return max(amount / asked[FlavorResource(flavor, name)] for name, amount in short.items())

    for (name, flavor), short in sorted(found.items(), key=part):
        yield name, flavor, short


def _rounded(resource: ResourceName, amount: int) -> int:
    """Round an amount down to what people write."""
    grain = next((one for one in GRAINS.get(resource, ()) if amount >= 4 * one), 1)
    return amount // grain * grain


def other_flavors(fact: WorkloadFact, ruling: Ruling) -> Iterator[Proposal]:
    """Propose tolerations and node selectors with which pods may use another flavor."""
    named: dict[FlavorName, FlavorFact] = {}
    for group in ruling.entry.rules.offer.groups:
        for option in group.options:
            if option.flavor is not None and not option.flavor.topology:
                named[option.name] = option.flavor
    for flavor in named.values():
        made = tuple(_suited(one, flavor) for one in fact.pod_sets)
        changed = [(old, new) for old, new in zip(fact.pod_sets, made, strict=True) if old != new]
        if not changed:
            continue
        edits, words = _suiting(fact, changed)
        text = f"{' and '.join(words)}, so that flavor {flavor.name} can serve it"
        yield Proposal("OtherFlavor", "Team", text, edits, replace(fact, pod_sets=made))


def _suited(pod_set: PodSet, flavor: FlavorFact) -> PodSet:
    """Return a pod set that may use a flavor."""
    added = tuple(
        Toleration(key=one.key, operator="Equal", value=one.value, effect=one.effect)
        for one in _untolerated(pod_set, flavor)
    )
    labels = flavor.node_labels
    selector = {key: labels.get(key, value) for key, value in pod_set.node_selector.items()}
    if added or selector != pod_set.node_selector:
        return replace(pod_set, tolerations=(*pod_set.tolerations, *added), node_selector=selector)
    return pod_set


def _untolerated(pod_set: PodSet, flavor: FlavorFact) -> list[Taint]:
    known = (*pod_set.tolerations, *flavor.tolerations)
    return [one for one in flavor.taints if untolerated((one,), known) is not None]


def _suiting(
    fact: WorkloadFact, changed: Sequence[tuple[PodSet, PodSet]]
) -> tuple[tuple[Edit, ...], list[str]]:
    edits, words = [], dict[str, None]()
    for old, new in changed:
        for one in new.tolerations[len(old.tolerations) :]:
            taint = f"{one.key}={one.value}:{one.effect}"
            edits.append(_edit(fact, f"tolerations of {old.name}", "", taint))
            words[f"Tolerate the taint {taint}"] = None
        for key, value in new.node_selector.items():
            if old.node_selector[key] != value:
                field = f"nodeSelector {key} of {old.name}"
                edits.append(_edit(fact, field, old.node_selector[key], value))
                words[f"Select {key}={value}"] = None
    return tuple(edits), list(words)


def other_queues(memory: Memory, fact: WorkloadFact) -> Iterator[Proposal]:
    """Propose other LocalQueues of its namespace."""
    home, found = namespace_of(fact.key), 0
    for key, queue in sorted(memory.objects.local_queues.items()):
        usable = queue.stop_policy is StopPolicy.NONE and not queue.deleting
        if namespace_of(key) != home or key == fact.local_queue or not usable:
            continue
        if not memory.objects.is_active(queue.cluster_queue):
            continue
        found += 1
        if found > QUEUES:
            return
        yield _moved(fact, queue)


def _moved(fact: WorkloadFact, queue: LocalQueueFact) -> Proposal:
    before = "" if fact.local_queue is None else name_of(fact.local_queue)
    name = name_of(queue.key)
    text = f"Queue it in LocalQueue {name} (ClusterQueue {queue.cluster_queue})"
    edit = _edit(fact, "spec.queueName", before, name)
    return Proposal("OtherQueue", "Team", text, (edit,), replace(fact, local_queue=queue.key))


def higher_priorities(
    memory: Memory, fact: WorkloadFact, ruling: Ruling | None, front: Key | None
) -> Iterator[Proposal]:
    """Propose higher priorities, the lowest first: to preempt others, or to come before them."""
    known: set[int] = set()
    if front is not None:
        known.add(memory.workloads[front].priority)
    if ruling is not None and not ruling.entry.rules.never_preempts:
        root = ruling.entry.node.root
        for queue in memory.queues_of(root):
            known.update(one.holder.priority for one in memory.ledger.charges_of(queue))
    higher = sorted(one + 1 for one in known if one >= fact.priority)[:PRIORITIES]
    for priority in higher:
        text = f"Give it a priority of at least {priority} (WorkloadPriorityClass)"
        edit = _edit(fact, "priority", str(fact.priority), str(priority))
        yield Proposal("RaisePriority", "Team", text, (edit,), replace(fact, priority=priority))


def switches(fact: WorkloadFact) -> Iterator[Proposal]:
    """Propose to take away what somebody put on the workload itself."""
    if not fact.active:
        name, namespace = name_of(fact.key), namespace_of(fact.key)
        text = f"Activate it again: queueing resume workload {name} -n {namespace}"
        edit = _edit(fact, "spec.active", "false", "true")
        kept = {name: one for name, one in fact.conditions.items() if name != "Requeued"}
        made = replace(fact, active=True, conditions=kept)
        yield Proposal("Activate", "Team", text, (edit,), made)
    if fact.admission_gates:
        gates = ",".join(fact.admission_gates)
        text = f"Take the admission gate away when what it waits for is there: {gates}"
        edit = _edit(fact, "kueue.x-k8s.io/admission-gated-by", gates, "")
        yield Proposal("RemoveGate", "Team", text, (edit,), replace(fact, admission_gates=()))


def shorter(fact: WorkloadFact) -> Iterator[Proposal]:
    """Propose shorter execution times, which budgets may cover."""
    seconds = fact.max_execution_s
    for _ in range(HALVES):
        seconds = None if seconds is None else seconds // 2
        if not seconds:
            return
        text = f"Declare a maximum execution time of at most {seconds} s"
        edit = _edit(
            fact, "spec.maximumExecutionTimeSeconds", str(fact.max_execution_s), str(seconds)
        )
        yield Proposal("ShorterRun", "Team", text, (edit,), replace(fact, max_execution_s=seconds))


def _edit(fact: WorkloadFact, field: str, before: str, after: str) -> Edit:
    return Edit(object=f"Workload {fact.key}", field=field, before=before, after=after)


def _with(fact: WorkloadFact, old: PodSet, new: PodSet) -> WorkloadFact:
    return replace(fact, pod_sets=tuple(new if one is old else one for one in fact.pod_sets))
