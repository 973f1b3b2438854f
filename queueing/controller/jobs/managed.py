"""Which Jobs are managed: queued by us, and run only while they are admitted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from queueing.controller.stores.objects import Objects
from queueing.core.selectors import Selector, selects
from queueing.kinds.owners import Owned
from queueing.translate.inbound.surroundings import namespace as namespace_fact
from queueing.translate.jobs.management import asks_to_be_queued

TELL_READY_WITHIN_S = 5.0
"""Default of `JobRules.tell_ready_within_s`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """What the Configuration says of Jobs."""

    without_queue_name: bool
    """`manageJobsWithoutQueueName`: Jobs without a queue label are managed too."""
    namespaces: Selector
    """`managedJobsNamespaceSelector`."""
    labels_to_copy: Sequence[str] = ()
    """Labels of Jobs that their Workloads get."""
    refused: Collection[str] = ()
    """Annotations that ask for features that are not supported; Jobs with one get a warning."""
    tell_ready_within_s: float = TELL_READY_WITHIN_S
    """For how many seconds the write of `PodsReady` may be put off while the API server is slow."""


def is_managed(objects: Objects, rules: JobRules, job: Owned) -> bool:
    """Say whether a Job is managed, by its labels, its owner and its namespace."""
    if not asks_to_be_queued(job.metadata, without_queue_name=rules.without_queue_name):
        return False
    namespace = objects.namespaces.get(job.metadata.namespace)
    return namespace is not None and selects(rules.namespaces, namespace_fact(namespace).labels)
