"""Which Workloads an object needs for its groups of pods. Pure.

Called by `reconciler` at each look at such an object, and never remembered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from queueing.controller.jobs.actions import (
    Discard,
    Follow,
    LetGo,
    Match,
    PutOnHold,
    TakeOffHold,
)
from queueing.controller.jobs.ladder import is_held_by_us
from queueing.kinds.hooks import PodGroups
from queueing.kinds.jobs import DescribedJob
from queueing.lifecycle.rules import ON_HOLD
from queueing.translate.jobs.composition import follows
from queueing.translate.jobs.group_workload import GroupOfPods
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class CreateGroup:
    """Create the Workload of a group."""

    group: GroupOfPods


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Look again soon: pods of a group still run that needs its Workload no more."""


Step: TypeAlias = (
    CreateGroup | Discard | PutOnHold | TakeOffHold | LookAgain | Match | Follow | LetGo
)


@dataclass(frozen=True, slots=True)
class GroupSeen:
    """A Workload of an object, and whether pods of its group have not ended."""

    workload: Workload
    has_pods: bool


def steps_of(
    job: DescribedJob,
    rules: PodGroups,
    groups: Mapping[str, GroupOfPods],
    seen: Sequence[GroupSeen],
) -> Iterator[Step]:
    """Yield what is to be done for an object, each step for another Workload.

    `groups` are those that it asks for now, by the names of their Workloads.
    """
    for one in seen:
        step = _step(job, rules, one, wanted=one.workload.metadata.name in groups)
        if step is not None:
            yield step
    known = {one.workload.metadata.name for one in seen}
    yield from (CreateGroup(group) for name, group in groups.items() if name not in known)


def _step(job: DescribedJob, rules: PodGroups, seen: GroupSeen, *, wanted: bool) -> Step | None:
    workload, status = seen.workload, seen.workload.status
    if workload.metadata.deleting:
        if not is_held_by_us(workload):
            return None
        return LookAgain() if seen.has_pods else LetGo(workload)
    if job.metadata.deleting:
        return None
    # One that serves never ends: a Workload that says so is of no use to it.
    if status.is_true("Finished"):
        return Discard(workload, "it has ended")
    if not (wanted or rules.on_hold):
        return Discard(workload, "its group is gone")
    if not wanted:
        if status.is_set_aside(ON_HOLD):
            return None
        return LookAgain() if seen.has_pods else PutOnHold(workload, rules.on_hold)
    if status.is_true("QuotaReserved"):
        return None
    if job.pod_sets and not job.fits(workload):
        return Match(workload, (job,))
    if not follows(job.metadata, workload):
        return Follow(workload, job)
    # Last: whoever is queued again may be admitted at once, as it is then.
    return TakeOffHold(workload, rules.off_hold) if status.is_set_aside(ON_HOLD) else None
