"""The groups of pods of an object that is queued through them: each has a Workload of its own.

The groups of a kind that says no more of them are single pods, which are queued as such.
"""

from collections.abc import Iterator, Sequence

from queueing.kinds.jobs import DescribedJob
from queueing.kinds.registry import kind_of
from queueing.translate.jobs.composition import JobKind, Origin
from queueing.translate.jobs.group_workload import GroupOfPods


def groups_of(job: DescribedJob, labels_to_copy: Sequence[str] = ()) -> Iterator[GroupOfPods]:
    """Yield the groups that an object asks for now. Raises UnreadableError."""
    view = job.source
    if view.on_hold:
        return
    rules, name = view.kind.hooks.pod_groups, job.metadata.name
    kind = job.kind if rules is not None else _pods()
    origin = Origin(kind=kind, metadata=job.metadata, labels_to_copy=labels_to_copy)
    if view.kind.groups is None:
        yield GroupOfPods(origin=origin, named_after=name)
        return
    for number in range(view.groups):
        yield GroupOfPods(origin=origin, number=number, named_after=f"{name}-{number}")


def _pods() -> JobKind:
    return kind_of("pod").names
