"""Pods that wait, and that an update is about to replace.

The controller of StatefulSets does not replace a pod that it takes for unscheduled. So pods of the
revision before are let go without quota; those that replace them wait for it.
"""

import msgspec

from queueing.controller.stores.objects import Objects
from queueing.kinds.jobs import DescribedJob
from queueing.kube.client import Client
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import Resource
from queueing.translate import labels
from queueing.translate.jobs.gated_pods import left_of
from queueing.translate.jobs.management import controller_of
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.wire.meta import Wire

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


class _StatefulSet(Wire, frozen=True):
    spec: _Spec = _Spec()
    status: _Status = _Status()


_decoder = msgspec.json.Decoder(_StatefulSet)


class Revisions:
    """Knows of which revision pods are, and which their StatefulSet is leaving."""

    def __init__(self, objects: Objects, client: Client) -> None:
        self._objects, self._client = objects, client

    async def is_replaced(self, job: DescribedJob, pod: PodJob) -> bool:
        """Say whether an update of its StatefulSet is about to replace a pod. Raises KubeError."""
        above = controller_of(pod.metadata)
        if above is None or above.kind != STATEFUL_SETS.kind:
            return False
        if above.uid == job.metadata.uid:
            current, update = (
                job.source.value(f"status.{name}") for name in ("currentRevision", "updateRevision")
            )
            kind, partition = (
                job.source.value(f"spec.updateStrategy.{name}")
                for name in ("type", "rollingUpdate.partition")
            )
        else:
            # Made by the owner's own controller: it is not followed.
            target = STATEFUL_SETS.at(above.name, pod.metadata.namespace)
            try:
                found = _decoder.decode(await self._client.get(target))
            except NotFoundError:
                return False
            current, update = found.status.current_revision, found.status.update_revision
            strategy = found.spec.update_strategy
            kind, partition = strategy.type, strategy.rolling_update.partition
        if kind == "OnDelete" or (isinstance(partition, int) and partition > 0):
            return False  # some pods stay at the revision before, and wait for quota like others
        return bool(update) and current != update and pod.metadata.labels.get(REVISION) == current


def ungated(pod: PodJob) -> MergePatch:
    """Return the patch that lets a pod run."""
    gates = left_of(pod.gates, (labels.GATE, labels.TOPOLOGY_GATE))
    return MergePatch(body={"spec": {"schedulingGates": gates}})
