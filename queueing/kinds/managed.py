"""Which jobs are managed: queued by us, and run only while they are admitted."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from queueing.core.selectors import Selector, selects
from queueing.kinds.owners import Owned
from queueing.kinds.registry import ELASTIC
from queueing.translate import labels
from queueing.translate.configuration import ELASTIC_JOBS, is_enabled, managed_namespaces
from queueing.translate.inbound.surroundings import namespace as namespace_fact
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.cluster import Namespace
from queueing.translate.wire.meta import Meta
from queueing_api.config.v1beta2 import Configuration

OWN_CONTROLLERS: tuple[GroupKind, ...] = (
    ("kueue.x-k8s.io", "Workload"),
    ("queueing.dev", "Checkpoint"),
)
"""Kinds of objects whose Jobs serve the queues themselves, and never wait in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """What the Configuration says of jobs of any kind."""

    namespaces: Selector
    """`managedJobsNamespaceSelector`."""
    without_queue_name: bool = False
    """`manageJobsWithoutQueueName`: jobs without a queue label are managed too."""
    labels_to_copy: Sequence[str] = ()
    """Labels of jobs that their Workloads get."""
    elastic: Collection[GroupKind] = ()
    """Kinds whose jobs may be elastic; none where that is off."""


def job_rules(configuration: Configuration) -> JobRules:
    """Derive the rules from a configuration that was validated."""
    return JobRules(
        namespaces=managed_namespaces(configuration),
        without_queue_name=configuration.manage_jobs_without_queue_name,
        labels_to_copy=tuple(configuration.integrations.label_keys_to_copy),
        elastic=ELASTIC if is_enabled(configuration, ELASTIC_JOBS) else frozenset(),
    )


def asks_to_be_queued(job: Meta, rules: JobRules) -> bool:
    """Say whether a job is to be queued, if its namespace is managed.

    With a queue label it is. Without one it is if `manageJobsWithoutQueueName` is on and it is not
    one of our own. Whoever is queued in the place of what it controls is looked for besides
    (`owners`).
    """
    return bool(job.labels.get(labels.QUEUE_NAME)) or (
        rules.without_queue_name and not _is_our_own(job)
    )


def _is_our_own(job: Meta) -> bool:
    """Say whether a job is one that we or another queueing controller make."""
    above = job.controller
    return above is not None and above.group_kind in OWN_CONTROLLERS


class Managed:
    """Says whether jobs are managed; a namespace is judged once, until it changes."""

    def __init__(self, namespaces: Mapping[str, Namespace], rules: JobRules) -> None:
        self._namespaces, self._rules = namespaces, rules
        self._judged: dict[str, tuple[Namespace, bool]] = {}

    def __call__(self, job: Owned) -> bool:
        """Say whether a job is managed, by its labels, its owner and its namespace."""
        is_marked = isinstance(job, JobView) and job.is_marked
        if is_marked or asks_to_be_queued(job.metadata, self._rules):
            return self.in_namespace(job.metadata.namespace)
        return False

    def in_namespace(self, name: str) -> bool:
        """Say whether jobs of a namespace are managed."""
        namespace, judged = self._namespaces.get(name), self._judged.get(name)
        if namespace is None:
            self._judged.pop(name, None)
            return False
        if judged is None or judged[0] is not namespace:
            selected = selects(self._rules.namespaces, namespace_fact(namespace).labels)
            judged = self._judged[name] = namespace, selected
        return judged[1]
