"""All built-in kinds, in the order in which they are set up.

Called by `queueing kind`, when it lists the built-in kinds or applies one by its name, and by
`controller.configuration` for those that a Configuration turns on.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import msgspec

from queueing.kinds.builtin import (
    appwrapper,
    deployment,
    job,
    jobset,
    kubeflow,
    leaderworkerset,
    pod,
    ray,
    spark,
    statefulset,
    trainjob,
)
from queueing.kinds.compiler import Kind, compiled, names_of
from queueing.kinds.frameworks import Framework
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.translate.jobs.composition import GroupKind, JobKind
from queueing.translate.jobs.pods.view import Pods

BUILT_IN: tuple[Framework, ...] = (
    *appwrapper.FRAMEWORKS,
    *deployment.FRAMEWORKS,
    *job.FRAMEWORKS,
    *jobset.FRAMEWORKS,
    *kubeflow.FRAMEWORKS,
    *leaderworkerset.FRAMEWORKS,
    *pod.FRAMEWORKS,
    *ray.FRAMEWORKS,
    *spark.FRAMEWORKS,
    *statefulset.FRAMEWORKS,
    *trainjob.FRAMEWORKS,
)
"""Every built-in kind."""

JOB = "batch/job"
"""The framework of batch/v1 Job."""
POD = "pod"
"""The framework of pods."""


def group_kind(one: Framework) -> GroupKind:
    """Return the group and kind of a built-in kind."""
    return one.spec.resource.group, one.spec.resource.kind


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType({one.name: one for one in BUILT_IN})
"""Built-in kinds by their names in `integrations.frameworks`."""


QUEUED: frozenset[str] = frozenset(one.name for one in BUILT_IN if one.spec.suspend.gate is None)
"""Built-in kinds that the controller queues by what suspends or marks their objects."""
SUPPORTED: frozenset[str] = QUEUED | {POD}
"""Built-in kinds that the controller queues by whatever means."""


def frameworks_on(frameworks: Iterable[str], gates: Mapping[str, bool]) -> tuple[Framework, ...]:
    """Return the built-in kinds that a Configuration has queued; some always are.

    `gates` are the feature gates that it sets.
    """
    wanted = QUEUED.intersection(frameworks)
    return tuple(
        one
        for one in BUILT_IN
        if (one.name in wanted or one.always) and (not one.gate or gates.get(one.gate, False))
    )


def queued_kinds(frameworks: Iterable[str], gates: Mapping[str, bool]) -> tuple[Kind, ...]:
    """Return those kinds, ready to read objects.

    Left out are kinds whose pods are queued one by one: nobody looks at their objects.
    """
    on = (kind_of(one.name) for one in frameworks_on(frameworks, gates))
    return tuple(
        kind
        for kind in on
        if kind.spec.suspend.through_pods is None or kind.hooks.pod_groups is not None
    )


def pods_on(frameworks: Iterable[str]) -> Pods:
    """Return which pods a Configuration has queued."""
    named = set(frameworks)
    if POD in named:
        return Pods.ALL
    implied = any(POD in one.implies for one in BUILT_IN if one.name in named)
    return Pods.OF_PARENTS if implied else Pods.NONE


KNOWN: Mapping[GroupKind, JobKind] = MappingProxyType(
    {group_kind(one): names_of(one.spec, one.hooks) for one in BUILT_IN if one.name in SUPPORTED}
)
"""The names of kinds that can be queued, whether they are turned on or not."""

LOOKED_THROUGH: Mapping[GroupKind, JobKind] = MappingProxyType(
    {group_kind(one): names_of(one.spec, one.hooks) for one in BUILT_IN}
    | {
        one.group_kind: one
        for one in (JobKind(api_version="apps/v1", kind="ReplicaSet", plural="replicasets"),)
    }
)
"""The names of all kinds that may be queued, and of those that stand between an object and one."""


ALWAYS: frozenset[GroupKind] = frozenset(group_kind(one) for one in BUILT_IN if one.always)
"""Kinds that are queued whatever a Configuration lists."""

ELASTIC: frozenset[GroupKind] = frozenset(group_kind(one) for one in BUILT_IN if one.elastic)
"""Kinds whose objects may grow and shrink while they run."""


@cache
def kind_of(framework: str) -> Kind:
    """Return a built-in kind, compiled when it is first asked for. Raises KeyError."""
    one = FRAMEWORKS[framework]
    return compiled(one.spec, one.hooks)


def read_batch_job(data: bytes | msgspec.Raw) -> DescribedJob:
    """Read a batch/v1 Job. Raises msgspec.ValidationError for what has no metadata."""
    return read_job(kind_of(JOB), data, lambda _: None)
