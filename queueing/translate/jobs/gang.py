"""Gangs: what several jobs must agree on to become one Workload, and whose its pod sets are.

They may be of several kinds. Invariant: the same jobs give the same verdict in any order, and the
job of a pod set is found by its name alone, so that nothing has to be remembered.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha1

from msgspec.structs import replace

from queueing.translate import labels
from queueing.translate.jobs.composition import max_execution_time
from queueing.translate.jobs.gang_keys import gang_key
from queueing.translate.jobs.slices import asks_to_be_elastic
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

SIZE_MAX = 18
"""The most pod sets that a Workload may have, so the most jobs of a gang."""
_SIZES = tuple(str(size) for size in range(1, SIZE_MAX + 1))
_TOLD_MAX = SIZE_MAX + 2
_VALUE_MAX = 40
_LABEL_MAX = 63
_DIGEST_LENGTH = 8
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class OnFailure(StrEnum):
    """What happens to a gang when one of its Jobs has failed: it fails, or the others go on."""

    FAIL = "Fail"
    CONTINUE = "Continue"


@dataclass(frozen=True, slots=True)
class Whole:
    """All jobs exist and agree with each other; sorted by name."""

    members: tuple[JobView, ...]


@dataclass(frozen=True, slots=True)
class Incomplete:
    """Jobs are missing."""

    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """These Jobs can never become a gang as they are."""

    message: str


Verdict = Whole | Incomplete | Refused


def verdict(jobs: Sequence[JobView]) -> Verdict:
    """Say whether the Jobs of one gang, of which there is at least one, can become a Workload."""
    members = tuple(sorted(jobs, key=lambda one: one.key))
    for what, read in _AGREED:
        message = _disagreement(members, what, read)
        if message:
            return Refused(message)
    first = members[0].metadata
    for check in (_size_problem, _choice_problem):
        message = check(first)
        if message:
            return Refused(message)
    message = _combination_problem(members)
    if message:
        return Refused(message)
    size = int(first.annotations[labels.GANG_SIZE])
    if len(members) > size:
        return Refused(f"the gang-size is {size} but more Jobs exist: {_names(members)}")
    message = _pod_sets_problem(members)
    if message:
        return Refused(message)
    if len(members) < size:
        return Incomplete(f"{len(members)} of {size} Jobs exist: {_names(members)}")
    return Whole(members)


def on_failure(meta: Meta) -> OnFailure:
    """Return what a failed Job means, by the annotation of a Job or of a gang's Workload."""
    chosen = meta.annotations.get(labels.GANG_ON_FAILURE, "")
    return OnFailure.CONTINUE if chosen == OnFailure.CONTINUE else OnFailure.FAIL


def pod_set_names(job: JobView) -> tuple[str, ...]:
    """Return the names that the pod sets of a job have in the Workload of its gang, in order.

    They are called `<job>-<pod set>`, and that of a bare kind like the job.
    """
    name = job.metadata.name
    if job.kind.bare:
        return (_label_of(name),)
    return tuple(_label_of(f"{name}-{one.name}") for one in job.pod_sets)


def told(job: JobView) -> str:
    """Return how a member is called in messages: `JobSet train`."""
    return f"{job.kind.kind} {job.metadata.name}"


def part_of(workload: Workload, *names: str) -> Workload:
    """Return a view of a gang's Workload with only the pod sets of these names.

    The functions for single jobs (equivalence, injection, restoring) work on it unchanged.
    """
    spec = replace(
        workload.spec, pod_sets=[one for one in workload.spec.pod_sets if one.name in names]
    )
    admission = workload.status.admission
    if admission is not None:
        assigned = [one for one in admission.pod_set_assignments if one.name in names]
        admission = replace(admission, pod_set_assignments=assigned)
    status = replace(workload.status, admission=admission)
    return replace(workload, spec=spec, status=status)


def part_for(job: JobView, workload: Workload) -> Workload:
    """Return a view of a Workload with the pod sets of one of its jobs: of no gang, all of them."""
    if gang_key(workload.metadata) is None:
        return workload
    return part_of(workload, *pod_set_names(job))


def _label_of(name: str) -> str:
    """Return a name itself if it is a DNS label, else cut and with a digest of it."""
    if len(name) <= _LABEL_MAX and _DNS_LABEL.fullmatch(name):
        return name
    digest = sha1(name.encode(), usedforsecurity=False).hexdigest()[:_DIGEST_LENGTH]
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{plain[: _LABEL_MAX - _DIGEST_LENGTH - 1]}-{digest}"


def _disagreement(members: Sequence[JobView], what: str, read: Callable[[JobView], str]) -> str:
    found: dict[str, list[JobView]] = {}
    for job in members:
        found.setdefault(read(job), []).append(job)
    if len(found) == 1:
        return ""
    values = "; ".join(
        f"{value[:_VALUE_MAX] or 'none'} ({_names(those)})" for value, those in found.items()
    )
    return f"the Jobs disagree on the {what}: {values}"


def _size_problem(first: Meta) -> str:
    text = first.annotations.get(labels.GANG_SIZE, "")
    if text in _SIZES:
        return ""
    said = f"is {text[:_VALUE_MAX]!r}" if text else "is missing"
    return f"the annotation {labels.GANG_SIZE} {said}: it must be a number from 1 to {SIZE_MAX}"


def _choice_problem(first: Meta) -> str:
    text = first.annotations.get(labels.GANG_ON_FAILURE, OnFailure.FAIL)
    if text in list(OnFailure):
        return ""
    choices = " or ".join(OnFailure)
    return f"the annotation {labels.GANG_ON_FAILURE} is {text[:_VALUE_MAX]!r}: it must be {choices}"


def _combination_problem(members: Sequence[JobView]) -> str:
    unread = next((job for job in members if not job.pod_sets), None)
    if unread is not None:
        return f"the pods of {told(unread)} cannot be told: {unread.problem}"
    elastic = [job for job in members if asks_to_be_elastic(job.metadata)]
    if elastic:
        return f"a member of a gang cannot have {labels.ELASTIC}: {_names(elastic)}"
    partial = [job for job in members if any(one.least is not None for one in job.pod_sets)]
    if len(partial) > 1:
        return (
            f"at most one Job of a gang may have the annotation {labels.MIN_PARALLELISM}:"
            f" {_names(partial)}"
        )
    prebuilt = [
        job
        for job in members
        if labels.PREBUILT_WORKLOAD in job.metadata.labels
        or labels.PREBUILT_WORKLOAD in job.metadata.annotations
    ]
    if prebuilt:
        return f"a Job of a gang cannot have {labels.PREBUILT_WORKLOAD}: {_names(prebuilt)}"
    return ""


def _pod_sets_problem(members: Sequence[JobView]) -> str:
    names = Counter(name for job in members for name in pod_set_names(job))
    if names.total() > SIZE_MAX:
        return (
            f"its Jobs have {names.total()} pod sets, and a Workload at most {SIZE_MAX}:"
            f" {_names(members)}"
        )
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        those = [job for job in members if twice in pod_set_names(job)]
        return f"pods of two sets would both be called {twice}: {_names(those)}"
    return ""


def _priority(job: JobView) -> str:
    queueing = job.metadata.labels.get(labels.PRIORITY_CLASS, "")
    return queueing or job.priority_class


def _execution_time(job: JobView) -> str:
    limit = max_execution_time(job.metadata)
    return str(limit) if limit is not None else ""


def _names(jobs: Sequence[JobView]) -> str:
    """List Jobs; of many only the first, so that the text is equal when one more is created."""
    named = [job.metadata.name if job.kind.bare else told(job) for job in jobs[:_TOLD_MAX]]
    return ", ".join(named if len(jobs) <= _TOLD_MAX else [*named, "and more"])


def _choice(meta: Meta) -> str:
    return meta.annotations.get(labels.GANG_ON_FAILURE, OnFailure.FAIL)


_AGREED: tuple[tuple[str, Callable[[JobView], str]], ...] = (
    ("gang-size", lambda job: job.metadata.annotations.get(labels.GANG_SIZE, "")),
    ("queue", lambda job: job.metadata.labels.get(labels.QUEUE_NAME, "")),
    ("priority class", _priority),
    ("maximum execution time", _execution_time),
    ("gang-on-failure", lambda job: _choice(job.metadata)),
)


def as_admitted(jobs: Sequence[JobView], workload: Workload) -> Mapping[str, JobView]:
    """Return by uid those of a gang's jobs whose pods only its Workload can tell any more.

    They are seen as they were admitted. Theirs are the pod sets that bear their name and are no
    other job's.
    """
    left = {one.name for one in workload.spec.pod_sets}
    left -= {name for job in jobs for name in pod_set_names(job)}
    found: dict[str, JobView] = {}
    lacking = (job for job in jobs if not job.pod_sets)
    # The longest name first, as pod sets of it begin with shorter ones, too.
    for job in sorted(lacking, key=lambda one: -len(one.metadata.name)):
        prefix = f"{job.metadata.name}-"
        mine = {name for name in left if name.startswith(prefix)}
        if mine:
            left -= mine
            found[job.metadata.uid] = job.standing_on(_of_one(workload, mine, prefix))
    return found


def _of_one(workload: Workload, names: set[str], prefix: str) -> Workload:
    """Return a view of a Workload with the pod sets of one job, called as the job calls them."""
    view = part_of(workload, *names)
    pod_sets = [replace(one, name=one.name.removeprefix(prefix)) for one in view.spec.pod_sets]
    return replace(view, spec=replace(view.spec, pod_sets=pod_sets))
