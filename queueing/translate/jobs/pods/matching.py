"""The members of a group held against the pod sets of its Workload."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from queueing.translate.jobs.gang_keys import is_fast
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.problems import Problems
from queueing.translate.requests import Surroundings, pod_requests
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import Workload

_ASKS = ("containers", "init_containers", "resources", "overhead", "runtime_class_name")
"""Fields of a pod's spec that its requests depend on."""


@dataclass(frozen=True, slots=True)
class Match:
    """What must change before the members are what the Workload was made for."""

    absent: int
    """Pods that have failed or were deleted, and were not replaced."""
    excess: Sequence[PodJob]
    """Pods of which there are too many."""
    replaced: Sequence[PodJob]
    """Pods that have ended and were replaced."""
    fits: bool
    """Whether the others are of the roles that the Workload has, and ask for no more than these."""


def matched(members: Sequence[PodJob], workload: Workload, around: Surroundings) -> Match:
    """Hold the members of a group against its Workload.

    `around` is what the requests of pods depend on beside themselves.
    """
    roles: dict[str, list[PodJob]] = defaultdict(list)
    for pod in members:
        roles[pod.role].append(pod)
    absent, excess, replaced = 0, list[PodJob](), list[PodJob]()
    for pod_set in workload.spec.pod_sets:
        mine, count = roles.get(pod_set.name, []), pod_set.count
        counted = [one for one in mine if one.counts]
        over = [one for one in mine if not one.counts]
        if is_fast(members[0].metadata):
            absent += count > 0 and not counted
        else:
            absent += max(0, count - len(counted))
        excess += trimmed(counted, count)
        spare = min(len(over), len(over) + len(counted) - count)
        replaced += sorted(over, key=_by_end)[len(over) - spare :] if spare > 0 else []
    kept = {pod.role for pod in members if pod.counts}
    fits = kept <= {one.name for one in workload.spec.pod_sets}
    fits = fits and not larger(members, workload, around)
    return Match(absent, excess, [one for one in replaced if one.held], fits)


def exceeds(pod: PodJob, workload: Workload, around: Surroundings) -> bool:
    """Say whether a pod asks for more than its role is charged for, whatever it says its role is.

    Whoever makes its pods may not add to them either: nothing would be charged for that.
    """
    charged = next((one for one in workload.spec.pod_sets if one.name == pod.role), None)
    if charged is None or _alike(charged.template, pod.pod_sets[0].template):
        return False
    most = _requests(charged.template, around)
    asked = _requests(pod.pod_sets[0].template, around)
    return any(amount > most.get(name, 0) for name, amount in asked.items())


def larger(pods: Iterable[PodJob], workload: Workload, around: Surroundings) -> list[PodJob]:
    """Return those of some pods that ask for too much, of those that we did not start."""
    ours = (one for one in pods if one.gated or not (one.was_started or one.ended))
    return [one for one in ours if exceeds(one, workload, around)]


def _alike(charged: PodTemplate, mine: PodTemplate) -> bool:
    """Say whether all that requests depend on is the same, as it mostly is: far cheaper to tell."""
    return all(getattr(charged.spec, name) == getattr(mine.spec, name) for name in _ASKS)


def _requests(template: PodTemplate, around: Surroundings) -> Mapping[str, int]:
    return pod_requests(template.spec, around, path="", problems=Problems())


def trimmed(counted: Sequence[PodJob], count: int) -> Sequence[PodJob]:
    """Return the pods beyond a count: first those without our finalizer, gated ones, new ones."""
    return sorted(counted, key=_by_start)[count:]


def by_role(pods: Iterable[PodJob]) -> Mapping[str, int]:
    """Return how many of some pods each role has, sorted by role."""
    found: dict[str, int] = defaultdict(int)
    for one in pods:
        found[one.role] += 1
    return {role: found[role] for role in sorted(found)}


def _by_start(pod: PodJob) -> tuple[bool, bool, float, str]:
    return (not pod.held, pod.gated, pod.metadata.created, pod.metadata.name)


def _by_end(pod: PodJob) -> tuple[bool, float, float, str]:
    """Order pods that have ended: those that were active last come first."""
    return (not pod.held, -pod.last_active, pod.metadata.created, pod.metadata.name)
