"""Pods that wait, and that an update is about to replace.

The controller of StatefulSets does not replace a pod that it takes for unscheduled. So pods of the
revision before are let go without quota; those that replace them wait for it.

StatefulSets that are queued are followed as jobs are. Those that another controller makes for its
groups are followed here, by a label that it writes on them, with nothing but what their updates
are told by.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.kinds.jobs import DescribedJob
from queueing.kube.client import Client
from queueing.kube.reflector import (
    Added,
    Deleted,
    Modified,
    Reflector,
    ReflectorSettings,
    Synced,
    WatchEvent,
)
from queueing.kube.resources import Resource
from queueing.translate import labels
from queueing.translate.jobs.gated_pods import left_of
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.wire.meta import Meta, Wire

STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
REVISION = "controller-revision-hash"


class _Status(Wire, frozen=True):
    current_revision: str = ""
    update_revision: str = ""


class _RollingUpdate(Wire, frozen=True):
    partition: int = 0


class _Strategy(Wire, frozen=True):
    type: str = ""
    rolling_update: _RollingUpdate = _RollingUpdate()


class _Spec(Wire, frozen=True):
    update_strategy: _Strategy = _Strategy()


class StatefulSet(Wire, frozen=True):
    """What an update of a StatefulSet is told by."""

    metadata: Meta
    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def leaves(self) -> str:
        """The revision whose pods are being replaced, all of them; empty while none is."""
        strategy, status = self.spec.update_strategy, self.status
        if strategy.type == "OnDelete" or strategy.rolling_update.partition > 0:
            return ""  # some pods stay at the revision before, and wait for quota like others
        updates = bool(status.update_revision)
        return status.current_revision if updates and _differ(status) else ""


def _differ(status: _Status) -> bool:
    return status.current_revision != status.update_revision


class Revisions:
    """Knows of which revision pods are, and which their StatefulSet is leaving.

    `attend` asks for a look at an object, by its key.
    """

    def __init__(self, attend: Callable[[Key], None]) -> None:
        self._attend = attend
        self._made: dict[Key, StatefulSet] = {}
        """StatefulSets that controllers of other kinds made."""

    def reflectors(
        self, client: Client, kinds: Iterable[Kind]
    ) -> Iterator[tuple[Reflector[StatefulSet], str]]:
        """Yield what follows the StatefulSets of each kind whose controller makes some."""
        for kind in kinds:
            rules = kind.hooks.pod_groups
            if rules is not None and rules.owner_label:
                on_event = partial(self._on_event, kind, rules.owner_label)
                labelled = ReflectorSettings(label_selector=rules.owner_label)
                target = STATEFUL_SETS.within()
                yield Reflector(client, target, StatefulSet, on_event, labelled), kind.name

    def _on_event(self, kind: Kind, label: str, event: WatchEvent[StatefulSet]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                before = self._made.get(found.metadata.key)
                self._made[found.metadata.key] = found
                if before is None or before.leaves != found.leaves:
                    owner = found.metadata.labels.get(label, "")
                    self._attend(kind.names.key(f"{found.metadata.namespace}/{owner}"))
            case Deleted(key=key):
                self._made.pop(Key(key), None)
            case Synced():
                pass

    def is_replaced(self, job: DescribedJob, pod: PodJob) -> bool:
        """Say whether an update of its StatefulSet is about to replace a pod of an object."""
        above = pod.metadata.controller
        if above is None or above.kind != STATEFUL_SETS.kind:
            return False
        if above.uid == job.metadata.uid:
            found: StatefulSet | None = _read(job)
        else:
            found = self._made.get(Key(f"{pod.metadata.namespace}/{above.name}"))
        if found is None or found.metadata.uid != above.uid:
            return False
        return bool(found.leaves) and pod.metadata.labels.get(REVISION) == found.leaves


def _read(job: DescribedJob) -> StatefulSet:
    """Return the same of a StatefulSet that is queued itself."""

    def value(path: str) -> str:
        found = job.source.value(path)
        return found if isinstance(found, str) else ""

    partition = job.source.value("spec.updateStrategy.rollingUpdate.partition")
    rolling = _RollingUpdate(partition=partition if isinstance(partition, int) else 0)
    strategy = _Strategy(type=value("spec.updateStrategy.type"), rolling_update=rolling)
    status = _Status(
        current_revision=value("status.currentRevision"),
        update_revision=value("status.updateRevision"),
    )
    return StatefulSet(metadata=job.metadata, spec=_Spec(update_strategy=strategy), status=status)


def ungated(pod: PodJob) -> MergePatch:
    """Return the patch that lets a pod run."""
    gates = left_of(pod.gates, (labels.GATE, labels.TOPOLOGY_GATE))
    return MergePatch(body={"spec": {"schedulingGates": gates}})
