"""Which Jobs are ours to queue."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from queueing.controller.stores.objects import Objects
from queueing.core.selectors import Selector, selects
from queueing.translate.inbound.surroundings import namespace as namespace_fact
from queueing.translate.jobs.management import asks_to_be_queued
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
    if not asks_to_be_queued(job.metadata, without_queue_name=rules.without_queue_name):
        return False
    namespace = objects.namespaces.get(job.metadata.namespace)
    return namespace is not None and selects(rules.namespaces, namespace_fact(namespace).labels)
