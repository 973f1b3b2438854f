"""Reconciles QueueableKinds: puts descriptions in force, and writes the condition Active.

A description that was in force stays so whatever becomes of it, by an edit or a permission that is
taken away: there may be objects that run, and must be stopped. That of an object which is being
deleted stays until no Workload of the kind needs it, which a finalizer waits for.
"""

from collections.abc import Callable, Collection, Sequence

import msgspec

from queueing.controller.intake.kinds import Kinds, KindState
from queueing.controller.queueable_kinds import serving, verdicts
from queueing.controller.queueable_kinds.in_force import InForce
from queueing.controller.queueable_kinds.verdicts import QUEUED, STARTING, Reason, Verdict
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.kinds.schemas import astray, schema_of
from queueing.kube.client import Client
from queueing.kube.errors import NotPermittedError, UnavailableError
from queueing.kube.reflector import Added, Deleted, Modified, Reflector, Synced, WatchEvent
from queueing.kube.resources import QUEUEABLE_KINDS
from queueing.kube.workqueue import WorkQueue
from queueing.translate import labels
from queueing.translate.jobs.composition import GroupKind
from queueing.translate.jobs.patches import JsonPatch
from queueing.translate.outbound.conditions import Conditions, patch, versioned
from queueing.translate.wire.kinds import QueueableKind

LOOK_AGAIN_S = 5.0
"""Seconds until a kind that cannot be queued is looked at again: nobody tells of permissions."""
LOOK_AT_REST_S = 60.0
"""Seconds until one is looked at again that is queued."""


class QueueableKinds:
    """The descriptions of a cluster, by the names of their objects."""

    def __init__(
        self,
        term: Term,
        kinds: Kinds,
        built_in: Collection[GroupKind],
        told: Callable[[Sequence[Kind]], None],
    ) -> None:
        """Take `told`, which is told the descriptions in force whenever they change."""
        self._writes, self._clock = term.writes, term.clock
        self._queue: WorkQueue[Key] = term.queues.queueable_kinds
        self._kinds, self._built_in = kinds, built_in
        self._found: dict[Key, QueueableKind] = {}
        self._in_force = InForce(kinds, term.objects, told)
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
            case Synced():
                pass

    async def look(self, name: Key) -> None:
        """Have a kind queued or not, and say so. Raises KubeError to be called again later."""
        found = self._found.get(name)
        if found is None:
            return
        needed = self._needed(name, found)
        if found.metadata.deleting and not needed:
            await self._release(name, found)
            return
        kind = verdicts.read(found.spec)
        verdict = kind if isinstance(kind, Verdict) else await self._judged(found, kind)
        if self._found.get(name) is not found:
            return  # it changed or went meanwhile, and is looked at as it is now
        if verdict is QUEUED and not (found.metadata.deleting or _is_held(found)):
            wrong = await self._hold(found)
            if wrong is None:
                return  # it is looked at again as it is now
            verdict = wrong
        if isinstance(kind, Verdict) or verdict is not QUEUED:
            verdict = self._fall_back(name, found, verdict)
        else:
            verdict = self._use(name, kind)
        if needed:
            verdict = verdicts.leaving(verdict, needed)
        at_rest = verdict.reason in (Reason.QUEUED, Reason.INVALID, Reason.UNSUPPORTED)
        self._queue.add_after(name, LOOK_AT_REST_S if at_rest else LOOK_AGAIN_S)
        await self._tell(name, found, verdict)

    def _needed(self, name: Key, found: QueueableKind) -> Sequence[Key]:
        """Return the Workloads that wait for the description of an object that is being deleted."""
        of = found.group_kind
        if not found.metadata.deleting or of in self._built_in:
            return ()
        others = self._in_force.holder(of) not in (None, name)
        return () if others else tuple(self._in_force.in_need(of))

    async def _judged(self, found: QueueableKind, kind: Kind) -> Verdict:
        """Say whether a description can be used."""
        wrong = verdicts.unsupported(kind) or self._taken(found, kind.names.group_kind)
        return wrong or await self._refused(kind) or QUEUED

    def _use(self, name: Key, kind: Kind) -> Verdict:
        """Have a kind queued by a description."""
        other = self._in_force.take(name, kind)
        if other is not None:
            self._queue.add(other)
        state, words = self._kinds.state(kind.names.group_kind)
        match state:
            case KindState.ACTIVE:
                return QUEUED
            case KindState.REFUSED:
                return verdicts.refused(words)
            case KindState.NOT_SERVED:
                return verdicts.not_served(kind)
            case KindState.FOLLOWING:
                return STARTING

    def _fall_back(self, name: Key, found: QueueableKind, verdict: Verdict) -> Verdict:
        """Keep the last good description of a QueueableKind in force, and say so."""
        if self._in_force.of(name) is None and verdict.reason is not Reason.TAKEN:
            before = verdicts.read(found.status.in_use)
            if not isinstance(before, Verdict) and self._taken(found, found.group_kind) is None:
                self._in_force.take(name, before)
        served = self._kinds.state(found.group_kind)[0] is not KindState.NOT_SERVED
        return verdicts.kept(verdict) if self._in_force.of(name) and served else verdict

    async def _refused(self, kind: Kind) -> Verdict | None:
        """Return what the API server lacks, or does not let us do; None when nothing."""
        client = self._writes.client
        try:
            served = await serving.is_served(client, kind)
        except UnavailableError as error:
            return verdicts.unavailable(kind, str(error))
        self._kinds.discovered(kind.names.group_kind, served=served)
        if not served:
            return verdicts.not_served(kind)
        document = await serving.schemas(client, kind)
        schema = None if document is None else schema_of(document, kind)
        if document is not None and schema is not None and (lost := astray(kind, schema, document)):
            return verdicts.astray(lost)
        missing = await serving.missing_permissions(client, kind)
        return verdicts.not_permitted(kind, missing) if missing else None

    def _taken(self, found: QueueableKind, of: GroupKind) -> Verdict | None:
        """Return who describes the kind already: it is built in and on, or another's.

        One that is being deleted makes room.
        """
        if of in self._built_in:
            return Verdict(Reason.TAKEN, "The kind is built in, and on by the Configuration")
        holder = self._in_force.holder(of)
        if holder is None or holder == found.metadata.name:
            return None
        other = self._found.get(holder)
        if other is not None and other.metadata.deleting and not found.metadata.deleting:
            return None
        return Verdict(Reason.TAKEN, f"QueueableKind {holder} describes the kind already")

    async def _hold(self, found: QueueableKind) -> Verdict | None:
        """Have a QueueableKind stay as long as Workloads need it; return why that is not done."""
        try:
            finalizers = [*found.metadata.finalizers, labels.RESOURCE_IN_USE]
            await self._write_finalizers(found, finalizers)
        except NotPermittedError as error:
            told = f"The finalizer that keeps a description in force cannot be added: {error}"
            return Verdict(Reason.NOT_PERMITTED, told)
        return None

    async def _release(self, name: Key, found: QueueableKind) -> None:
        """Let a QueueableKind go that is being deleted.

        If an object of the kind may just be getting a Workload, that is waited for.
        """
        if self._in_force.of(name) is not None:
            hurried = self._in_force.are_followed(found.group_kind)
            self._let_go(name)
            if hurried:
                self._queue.add_after(name, self._writes.client.write_timeout_s)
                return
        if _is_held(found):
            kept = [one for one in found.metadata.finalizers if one != labels.RESOURCE_IN_USE]
            await self._write_finalizers(found, kept)

    async def _write_finalizers(self, found: QueueableKind, finalizers: Sequence[str]) -> None:
        body = patch(found.metadata, {"metadata": {"finalizers": list(finalizers)}})
        await self._writes.patch(QUEUEABLE_KINDS.at(found.metadata.name), body)

    def _let_go(self, name: Key) -> None:
        self._in_force.let_go(name)
        for other in self._found:
            if other != name:
                self._queue.add(other)  # one of them may describe the same kind

    def _changed(self, of: GroupKind) -> None:
        holder = self._in_force.holder(of)
        if holder is not None:
            self._queue.add(holder)

    async def _tell(self, name: Key, found: QueueableKind, verdict: Verdict) -> None:
        meta = found.metadata
        now = self._clock.now()
        conditions = Conditions(found.status.conditions, now=now, generation=meta.generation)
        before = conditions.wire()
        conditions.set(
            "Active", true=verdict.active, reason=verdict.reason, message=verdict.message
        )
        kind = self._in_force.of(name)
        in_use = None if kind is None else kind.spec.to_wire()
        if conditions.wire() == before and in_use == msgspec.json.decode(found.status.in_use):
            return
        status = {"conditions": conditions.wire()} | ({"inUse": in_use} if in_use else {})
        # A merge patch would keep what the description in use before had besides.
        change = JsonPatch(operations=[{"op": "add", "path": "/status", "value": status}])
        target = QUEUEABLE_KINDS.at(meta.name, subresource="status")
        await self._writes.patch_json(target, versioned(meta, change))


def _is_held(found: QueueableKind) -> bool:
    return labels.RESOURCE_IN_USE in found.metadata.finalizers
