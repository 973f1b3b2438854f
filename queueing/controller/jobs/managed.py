"""Which Jobs are ours to queue."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from queueing.controller.stores.objects import Objects
from queueing.core.selectors import Selector, selects
from queueing.translate import labels
from queueing.translate.inbound.surroundings import namespace as namespace_fact
from queueing.translate.wire.jobs import Job

TELL_READY_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """Which Jobs are ours, and what their Workloads copy of them."""

    without_queue_name: bool
    namespaces: Selector
    labels_to_copy: Sequence[str] = ()
    refused: Collection[str] = ()
    """Annotations that ask for what is not there."""
    tell_ready_within_s: float = TELL_READY_WITHIN_S
    """How long it may take to write that pods are ready; 0 where others wait for that."""


def is_managed(objects: Objects, rules: JobRules, job: Job) -> bool:
    """Say whether a Job is ours to queue."""
    queued = bool(job.metadata.labels.get(labels.QUEUE_NAME))
    # A CronJob is nobody's ancestor: its Jobs queue by themselves.
    owned = any(one.controller and one.kind != "CronJob" for one in job.metadata.owner_references)
    if not queued and (owned or not rules.without_queue_name):
        return False
    namespace = objects.namespaces.get(job.metadata.namespace)
    return namespace is not None and selects(rules.namespaces, namespace_fact(namespace).labels)
