"""Reconciles QueueableKinds: has each kind queued or not, and writes the condition Active."""

from collections.abc import Callable, Collection, Sequence

from queueing.controller.intake.kinds import Kinds, KindState
from queueing.controller.queueable_kinds import serving, verdicts
from queueing.controller.queueable_kinds.verdicts import QUEUED, STARTING, Reason, Verdict
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.kinds.schemas import astray, schema_of
from queueing.kube.client import Client
from queueing.kube.reflector import Added, Deleted, Modified, Reflector, Synced, WatchEvent
from queueing.kube.resources import QUEUEABLE_KINDS
from queueing.kube.workqueue import WorkQueue
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.outbound.conditions import Conditions, patch
from queueing.translate.wire.kinds import QueueableKind

LOOK_AGAIN_S = 5.0
"""Seconds until a kind that cannot be queued is looked at again: nobody tells of permissions."""


class QueueableKinds:
    """The descriptions of a cluster, by the names of their objects."""

    def __init__(
        self,
        term: Term,
        kinds: Kinds,
        built_in: Collection[GroupKind],
        told: Callable[[Sequence[Kind]], None],
    ) -> None:
        self._told = told
        """Told which kinds are queued, whenever that changes."""
        self._writes, self._clock = term.writes, term.clock
        self._queue: WorkQueue[Key] = term.queues.queueable_kinds
        self._kinds, self._built_in = kinds, built_in
        self._found: dict[Key, QueueableKind] = {}
        self._queued: dict[Key, Kind] = {}
        """Descriptions that are in use."""
        kinds.changed.append(self._changed)

    def reflector(self, client: Client) -> tuple[Reflector[QueueableKind], str]:
        """Return the reflector, with the plural name of its kind; nothing runs yet."""
        plural = QUEUEABLE_KINDS.plural
        return Reflector(client, QUEUEABLE_KINDS.within(), QueueableKind, self.on_event), plural

    def on_event(self, event: WatchEvent[QueueableKind]) -> None:
        """Handle a watch event of a QueueableKind."""
        match event:
            case Added(object=found) | Modified(object=found):
                name = Key(found.metadata.name)
                self._found[name] = found
                self._queue.add(name)
            case Deleted(key=gone):
                self._found.pop(Key(gone), None)
                self._let_go(Key(gone))
                for other in self._found:
                    self._queue.add(other)  # one of them may describe the same kind
            case Synced():
                pass

    async def look(self, name: Key) -> None:
        """Have a kind queued or not, and say so. Raises KubeError to be called again later."""
        found = self._found.get(name)
        if found is None:
            return
        kind = verdicts.read(found.spec)
        verdict = kind if isinstance(kind, Verdict) else await self._judged(found, kind)
        if self._found.get(name) is not found:
            return  # it changed or went meanwhile, and is looked at as it is now
        if not isinstance(kind, Verdict) and verdict is QUEUED:
            verdict = self._use(name, kind)
        else:
            self._let_go(name)
        if verdict.reason not in (Reason.QUEUED, Reason.INVALID, Reason.UNSUPPORTED):
            self._queue.add_after(name, LOOK_AGAIN_S)
        await self._tell(found, verdict)

    async def _judged(self, found: QueueableKind, kind: Kind) -> Verdict:
        """Say whether a description can be used."""
        wrong = verdicts.unsupported(kind) or self._taken(found, kind.names.group_kind)
        return wrong or await self._refused(kind) or QUEUED

    def _use(self, name: Key, kind: Kind) -> Verdict:
        """Have a kind queued by a description."""
        of, before = kind.names.group_kind, self._queued.get(name)
        if before is None or before.spec != kind.spec:
            self._queued[name] = kind
            self._kinds.activate(kind)
            self._told([*self._queued.values()])
        return QUEUED if self._kinds.state(of)[0] is KindState.ACTIVE else STARTING

    async def _refused(self, kind: Kind) -> Verdict | None:
        """Return what the API server lacks, or does not let us do; None when nothing."""
        client = self._writes.client
        if not await serving.is_served(client, kind):
            return verdicts.not_served(kind)
        document = await serving.schemas(client, kind)
        schema = None if document is None else schema_of(document, kind)
        if document is not None and schema is not None and (lost := astray(kind, schema, document)):
            return verdicts.astray(lost)
        missing = await serving.missing_permissions(client, kind)
        return verdicts.not_permitted(kind, missing) if missing else None

    def _taken(self, found: QueueableKind, of: GroupKind) -> Verdict | None:
        """Return who describes the kind already: it is built in and on, or another's."""
        if of in self._built_in:
            return Verdict(Reason.TAKEN, "The kind is built in, and on by the Configuration")
        for name, one in self._queued.items():
            if one.names.group_kind == of and name != found.metadata.name:
                return Verdict(Reason.TAKEN, f"QueueableKind {name} describes the kind already")
        return None

    def _let_go(self, name: Key) -> None:
        before = self._queued.pop(name, None)
        if before is not None:
            self._kinds.retire(before.names.group_kind)
            self._told([*self._queued.values()])

    def _changed(self, of: GroupKind) -> None:
        for name, one in self._queued.items():
            if one.names.group_kind == of:
                self._queue.add(name)

    async def _tell(self, found: QueueableKind, verdict: Verdict) -> None:
        meta = found.metadata
        now = self._clock.now()
        conditions = Conditions(found.status.conditions, now=now, generation=meta.generation)
        before = conditions.wire()
        true = verdict.reason is Reason.QUEUED
        conditions.set("Active", true=true, reason=verdict.reason, message=verdict.message)
        if conditions.wire() != before:
            target = QUEUEABLE_KINDS.at(meta.name, subresource="status")
            body = patch(meta, {"status": {"conditions": conditions.wire()}})
            await self._writes.patch(target, body)
