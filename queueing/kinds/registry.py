"""All built-in kinds, in the order in which they are set up.

Called by `queueing kind` only, when it lists the built-in kinds or applies one by its name.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

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
from queueing.kinds.compiler import Kind, compiled
from queueing.kinds.frameworks import Framework

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

GroupKind = tuple[str, str]
"""Group and kind."""


def group_kind(one: Framework) -> GroupKind:
    """Return the group and kind of a built-in kind."""
    return one.spec.resource.group, one.spec.resource.kind


FRAMEWORKS: Mapping[str, Framework] = MappingProxyType({one.name: one for one in BUILT_IN})
"""Built-in kinds by their names in `integrations.frameworks`."""


@cache
def kind_of(framework: str) -> Kind:
    """Return a built-in kind, compiled when it is first asked for. Raises KeyError."""
    one = FRAMEWORKS[framework]
    return compiled(one.spec, one.hooks)
