"""Which Jobs are managed: queued by us, and run only while they are admitted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from queueing.controller.stores.objects import Objects
from queueing.core.selectors import Selector, selects
from queueing.kinds.owners import Owned
from queueing.translate import labels
from queueing.translate.inbound.surroundings import namespace as namespace_fact
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.jobs.management import is_our_own
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.cluster import Namespace

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
    elastic: Collection[GroupKind] = ()
    """Kinds whose jobs may be elastic; none where that is off."""
    tell_ready_within_s: float = TELL_READY_WITHIN_S
    """For how many seconds the write of `PodsReady` may be put off while the API server is slow."""


class Managed:
    """Says whether Jobs are managed; a namespace is judged once, until it changes."""

    def __init__(self, objects: Objects, rules: JobRules) -> None:
        self._objects, self._rules = objects, rules
        self._judged: dict[str, tuple[Namespace, bool]] = {}

    def __call__(self, job: Owned) -> bool:
        """Say whether a Job is managed, by its labels, its owner and its namespace."""
        meta = job.metadata
        asks = meta.labels.get(labels.QUEUE_NAME) or (
            self._rules.without_queue_name and not is_our_own(meta)
        )
        if asks or (isinstance(job, JobView) and job.is_marked):
            return self.in_namespace(meta.namespace)
        return False

    def in_namespace(self, name: str) -> bool:
        """Say whether Jobs of a namespace are managed."""
        namespace, judged = self._objects.namespaces.get(name), self._judged.get(name)
        if namespace is None:
            self._judged.pop(name, None)
            return False
        if judged is None or judged[0] is not namespace:
            selected = selects(self._rules.namespaces, namespace_fact(namespace).labels)
            judged = self._judged[name] = namespace, selected
        return judged[1]
