"""Handles watch events of Checkpoints, CheckpointPolicies and the pods that are asked."""

import logging
from collections.abc import Callable

import msgspec

from queueing.checkpoints.memory import CheckpointMemory, SeenCheckpoint
from queueing.checkpoints.wire import inbound
from queueing.checkpoints.wire.objects import Checkpoint, CheckpointPolicy, Pod
from queueing.checkpoints.wire.pods import has_spoken_last
from queueing.core.credits.facts import SavedFact
from queueing.core.names import Key, Uid
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent

logger = logging.getLogger(__name__)

_decoder = msgspec.json.Decoder(Checkpoint)


class CheckpointIntake:
    """Keeps `CheckpointMemory` up to date.

    `changed` asks for a Workload's requests to be reconciled, `policy` for a policy; `saved` tells
    the engine until when a Workload's work is saved.
    """

    def __init__(
        self,
        checkpoints: CheckpointMemory,
        changed: Callable[[Key], None],
        policy: Callable[[Key], None],
        *,
        saved: Callable[[SavedFact], object],
    ) -> None:
        self._checkpoints, self._changed, self._policy = checkpoints, changed, policy
        self._saved = saved

    def on_checkpoint(self, event: WatchEvent[Checkpoint]) -> None:
        """Handle a watch event of a Checkpoint."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._take(found)
            case Deleted(key=key):
                self._lose(Key(key))
            case Synced():
                pass

    def absorb(self, reply: bytes) -> None:
        """Handle the Checkpoint that the API server returned to a write or a read."""
        self._take(_decoder.decode(reply))

    def on_policy(self, event: WatchEvent[CheckpointPolicy]) -> None:
        """Handle a watch event of a CheckpointPolicy."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._checkpoints.policies[found.metadata.key] = found
                self._policy(found.metadata.key)
            case Deleted(key=key):
                self._checkpoints.policies.pop(Key(key), None)
                self._policy(Key(key))
            case Synced():
                pass

    def on_pod(self, event: WatchEvent[Pod]) -> None:
        """Handle a watch event of a pod that carries the label of a request."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._checkpoints.pods[found.metadata.key] = found
                self._tell_of(found.metadata.key)
            case Deleted(key=key, object=last):
                self._bury(Key(key), last)
            case Synced():
                pass

    def _bury(self, key: Key, last: Pod | None) -> None:
        """Forget a deleted pod; keep one that ended while asked, whose exit message may be read."""
        if last is not None and has_spoken_last(last) and self._asking(key):
            self._checkpoints.pods[key] = last
        else:
            self._checkpoints.pods.pop(key, None)
        self._tell_of(key)

    def _tell_of(self, key: Key) -> None:
        for workload in self._asking(key):
            self._changed(workload)

    def _asking(self, key: Key) -> list[Key]:
        """Return the Workloads with an open request that names a pod."""
        namespace, _, name = key.partition("/")
        return [
            workload
            for workload in dict.fromkeys(self._checkpoints.open_workloads())
            if workload.partition("/")[0] == namespace
            and any(name in one.record.asked for one in self._checkpoints.open_requests(workload))
        ]

    def _take(self, found: Checkpoint) -> None:
        key = found.metadata.key
        known = self._checkpoints.get(key)
        if known is not None and not found.metadata.is_newer_than(known.meta):
            return
        workload = Key(f"{found.metadata.namespace}/{found.spec.workload.name}")
        try:
            record = inbound.record(found)
        except (inbound.BadTermsError, ValueError) as error:
            self._checkpoints.drop(key)
            self._checkpoints.unreadable[key] = None
            logger.warning("Checkpoint %s cannot be used: %s", key, error)
        else:
            self._checkpoints.put(
                SeenCheckpoint(
                    meta=found.metadata,
                    workload=workload,
                    workload_uid=found.spec.workload.uid,
                    policy=found.spec.policy,
                    record=record,
                )
            )
            self._tell_of_saved(found)
        self._changed(workload)

    def _tell_of_saved(self, found: Checkpoint) -> None:
        """Tell the engine when work was saved: an eviction loses what was done after that."""
        saved = found.status.checkpoint
        if saved is not None and saved.at is not None:
            uid = Uid(found.spec.workload.uid)
            at = int(saved.at.timestamp())
            self._saved(SavedFact(name=found.metadata.key, uid=uid, at=at))

    def _lose(self, key: Key) -> None:
        seen = self._checkpoints.get(key)
        self._checkpoints.drop(key)
        if seen is not None:
            self._changed(seen.workload)
