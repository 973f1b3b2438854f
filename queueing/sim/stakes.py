"""What stopping the workloads of a file would cost, by the CheckpointPolicies in it."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.wire import inbound
from queueing.checkpoints.wire import objects as wire
from queueing.checkpoints.wire.effective import CheckpointPolicies
from queueing.checkpoints.wire.stakes import stake
from queueing.core.names import Key
from queueing.core.stakes import Stake
from queueing.translate.wire import queues
from queueing.translate.wire.meta import Identified, Wire
from queueing.translate.wire.workloads import Workload

W = TypeVar("W", bound=Wire)


class Read(Protocol):
    """Reads all objects of a kind."""

    def __call__(self, kind: str, shape: type[W]) -> list[W]: ...


class Stakes:
    """Policies of a file, and what past requests taught; a workload without a policy has none."""

    def __init__(self, read: Read) -> None:
        self.warnings: dict[str, None] = {}
        policies = read("CheckpointPolicy", wire.CheckpointPolicy)
        self._policies = CheckpointPolicies({one.metadata.key: one for one in policies})
        self._queues = _by(read("ClusterQueue", queues.ClusterQueue), lambda one: one.metadata.name)
        self._local_queues = _by(
            read("LocalQueue", queues.LocalQueue), lambda one: one.metadata.key
        )
        self._jobs = _by(read("Job", Identified), lambda one: one.metadata.key)
        self._records: dict[tuple[Key, str], list[Record]] = {}
        for one in read("Checkpoint", wire.Checkpoint):
            self._note(one)

    def of(self, workload: Workload) -> Stake | None:
        """Return what is at stake in a workload, running or not; None without a policy."""
        if not self._policies.found:
            return None
        meta = workload.metadata
        owned = (Key(f"{meta.namespace}/{one.name}") for one in meta.owner_references)
        jobs = [self._jobs[key] for key in owned if key in self._jobs]
        found = self._policies.effective(meta.namespace, self._queue_of(workload), jobs)
        if found.complaint:
            self.warnings[found.complaint] = None
        if found.terms is None:
            return None
        return stake(workload, found.terms, self._records.get((meta.key, meta.uid), ()))

    def _queue_of(self, workload: Workload) -> queues.ClusterQueue | None:
        if workload.status.admission is not None:
            return self._queues.get(workload.status.admission.cluster_queue)
        local = self._local_queues.get(workload.local_queue)
        return self._queues.get(local.spec.cluster_queue) if local is not None else None

    def _note(self, found: wire.Checkpoint) -> None:
        """Learn from a request; in a file, as in a cluster, the uid tells one life from another."""
        meta, spec = found.metadata, found.spec
        try:
            record = inbound.record(found)
        except (inbound.BadTermsError, ValueError) as error:
            self.warnings[f"Checkpoint {meta.key} cannot be used: {error}"] = None
            return
        life = Key(f"{meta.namespace}/{spec.workload.name}"), spec.workload.uid
        records = self._records.setdefault(life, [])
        records.append(record)
        records.sort(key=lambda one: one.request.epoch)


def _by(found: Sequence[W], key: Callable[[W], str]) -> dict[str, W]:
    return {key(one): one for one in found}
