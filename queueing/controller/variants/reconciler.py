"""Reconciles one parent with its variants at a time: does the step that `steps` names.

Called by workers of a work queue, with the key of a Workload that has variants or is to get them.
What is written leads to the next look.
"""

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import msgspec

from queueing.controller.intake.pump import Pump
from queueing.controller.stores.indexes import Index
from queueing.controller.term import Term
from queueing.controller.variants import steps
from queueing.controller.variants.doubts import Doubts
from queueing.controller.variants.family import Family, family_of, is_running
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.controller.writing.leader_writes import workload_target
from queueing.core.decisions import Requeue
from queueing.core.names import Key
from queueing.core.reasons import GATED
from queueing.kube.deletion import this_life
from queueing.kube.errors import AlreadyExistsError
from queueing.kube.outcome import Done, Unknown
from queueing.kube.resources import WORKLOADS
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.inbound.queues import cluster_queue
from queueing.translate.jobs.slices import slice_name
from queueing.translate.jobs.variants import (
    composed_variant,
    followed,
    has_variants,
    parent_of,
)
from queueing.translate.outbound import variants as wire
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.conditions import patch
from queueing.translate.wire.queues import ClusterQueue
from queueing.translate.wire.workloads import CheckState, Workload

NAME_TAKEN_S = 1.0
"""Seconds until a variant is made whose name a variant has that is going."""
UNCLEAR_S = 1.0
"""Seconds until it is asked again what became of the admission of a parent."""
OUTDATED = "The parent asks for other pods than quota was reserved for"
_JUDGED = frozenset({Requeue.INADMISSIBLE, Requeue.NOT_QUEUED})


class _Admission(msgspec.Struct):
    admission: dict[str, Any] | None = None


class _Stored(msgspec.Struct):
    status: _Admission


class Variants:
    """The feature of one term; `gate` says whether Workloads without variants may get them.

    Without the gate it is absent until the first Workload is seen that has variants or is one.
    """

    def __init__(self, term: Term, pump: Pump, late: LateReservations, *, gate: bool) -> None:
        self._objects, self._engine, self._writes = term.objects, term.engine, term.writes
        self._events, self._reporter, self._clock = term.events, term.reporter, term.clock
        self._queue, self._pump, self._late = term.queues.variants, pump, late
        self._gate, self._doubts = gate, Doubts(term.writes)
        self._by_parent: Index[Key] = Index()
        self._parents: dict[Key, Key] = {}
        """Variant → parent."""
        self._features, self._present = term.queues.features, False
        pump.sees_variants = self._enter
        if gate:
            self._enter()

    def _enter(self) -> None:
        """Take part in what happens to Workloads from now on."""
        if not self._present:
            self._present, features = True, self._features
            features.workload_changed.append(self._hear)
            features.holds.append(self._holds)
            features.checks.append(self._checks)

    def _hear(self, key: Key) -> None:
        """Take in that a Workload changed: look at the parent of its family, if it is of one."""
        found = self._objects.workloads.get(key)
        above = None if found is None else parent_of(found.metadata)
        known = self._parents.pop(key, None)
        if known is not None:
            self._by_parent.drop(known, key)
            self._queue.add(known)
        if found is not None and above is not None:
            parent = self._parents[key] = Key(f"{found.metadata.namespace}/{above.name}")
            self._by_parent.add(parent, key)
            self._queue.add(parent)
        elif key in self._by_parent.groups or (
            found is not None and (has_variants(found.metadata) or self._is_to_get_them(found))
        ):
            self._queue.add(key)

    def _is_to_get_them(self, found: Workload) -> bool:
        if not self._gate or found.finished or slice_name(found.metadata):
            return False
        return self._queue_of(found) is not None

    def _queue_of(self, found: Workload) -> ClusterQueue | None:
        """Return the ClusterQueue of a Workload's LocalQueue, if it has a policy for variants."""
        local = self._objects.local_queues.get(found.local_queue)
        behind = self._objects.cluster_queues.get(local.spec.cluster_queue) if local else None
        policy = behind.spec.concurrent_admission_policy if behind is not None else None
        return behind if policy is not None else None

    def _holds(self, workload: Workload) -> bool:
        """Say whether an evicted parent keeps its quota, because its variant is not evicted yet."""
        if not (has_variants(workload.metadata) and workload.spec.active):
            return False
        return is_running(self._family(workload).source)

    def _checks(self, workload: Workload) -> Sequence[CheckState]:
        """Return the admission checks of the variant by which a parent runs."""
        if not has_variants(workload.metadata):
            return ()
        known = self._objects.workloads.get(workload.metadata.key)
        source = None if known is None else self._family(known).source
        return () if source is None else source.status.admission_checks

    def _family(self, parent: Workload) -> Family:
        behind = self._queue_of(parent)
        queue = None if behind is None else cluster_queue(behind)
        return family_of(parent, list(self._variants(parent)), queue)

    def _variants(self, parent: Workload) -> Iterator[Workload]:
        for one in self._members(parent.metadata.key):
            above = parent_of(one.metadata)
            if above is not None and above.uid == parent.metadata.uid:
                yield one

    def _members(self, parent: Key) -> Iterator[Workload]:
        """Yield the variants of parents with a name, also of one that is gone."""
        for key in self._by_parent[parent]:
            found = self._objects.workloads.get(key)
            if found is not None:
                yield found

    async def look(self, key: Key) -> None:
        """Do the next write for a parent or its variants. Raises KubeError to be called again."""
        parent = self._objects.workloads.get(key)
        for one in self._members(key):
            above = parent_of(one.metadata)
            orphan = parent is None or (above is not None and above.uid != parent.metadata.uid)
            if orphan and one.metadata.deleting and one.metadata.finalizers:
                await self._writes.let_go(one)
                return
        if parent is None or parent_of(parent.metadata) is not None:
            self._doubts.forget(key)
            return
        now = self._clock.now()
        family = self._family(parent)
        step = steps.next_step(family, self._blocked(family), now)
        if isinstance(step, steps.Later):
            self._queue.add_after(key, step.at - now)
            return
        if isinstance(step, steps.Release | steps.LetGo) and await self._may_run(key):
            return
        if step is not None:
            await self._do(step, now)
            self._pump.attend(parent)

    async def _may_run(self, parent: Key) -> bool:
        """Say whether a parent may run by an admission that is not seen yet; look again then."""
        found = await self._doubts.outcome(parent)
        if isinstance(found, Done):
            self._pump.absorb_workload(found.body)
            self._queue.add(parent)
        elif isinstance(found, Unknown):
            self._queue.add_after(parent, UNCLEAR_S)
        return isinstance(found, Done | Unknown)

    def _blocked(self, family: Family) -> dict[str, bool]:
        """Return, of each variant that was judged, whether its preemption gate keeps it waiting."""
        found = {}
        for one in family.variants:
            wait = self._engine.waiting(one.metadata.key)
            if wait is not None and (wait.mode is not None or wait.requeue in _JUDGED):
                found[one.metadata.uid] = wait.message == GATED
        return found

    async def _do(self, step: steps.ParentStep | steps.VariantStep, now: float) -> None:
        match step:
            case steps.Mark(parent=parent):
                await self._writes.patch_workload(parent, wire.mark_parent(parent), "")
            case steps.Make():
                await self._make(step)
            case steps.EvictParent(parent=parent, reason=reason, message=message):
                await self._evict(parent, Evict(reason=reason, message=message), now)
            case steps.EvictWithParent(variant=variant, parent=parent):
                await self._evict(variant, _as_evicted(parent), now)
            case steps.AdmitParent(parent=parent, variant=variant):
                await self._admit(parent, variant, now)
            case steps.Move(parent=parent, variant=variant):
                admission = await self._admission_of(variant)
                if admission is not None:
                    await self._writes.patch_workload(parent, wire.move(parent, admission))
            case _:
                await self._do_to_variant(step, now)

    async def _do_to_variant(self, step: steps.VariantStep, now: float) -> None:
        writes, events, variant = self._writes, self._events, step.variant
        match step:
            case steps.Drop(flavor=flavor):
                await self._drop(variant, flavor)
            case steps.FollowParent(parent=parent):
                stored = await writes.client.get(workload_target(parent.metadata, ""))
                body = patch(variant.metadata, followed(variant, stored))
                await writes.patch_workload(variant, body, "")
            case steps.LetGo():
                await writes.let_go(variant)
            case steps.Release():
                await writes.release(variant, now)
            case steps.Turn(active=active, why=why):
                body = outbound.change_spec(variant, {"active": active})
                await writes.patch_workload(variant, body, "")
                said = "Activated" if active else "Deactivated"
                told = f"Variant Workload {said.lower()} due to {why}"
                events.workload(variant.metadata, f"{said}Variant", told)
            case steps.EvictOutdated():
                reason = EvictionReason.CONCURRENT_ADMISSION
                await self._evict(variant, Evict(reason=reason, message=OUTDATED), now)
            case steps.FinishVariant(reason=reason, message=message):
                body = outbound.finish(variant, reason, message, now)
                await writes.patch_workload(variant, body)
            case steps.Mirror(parent=parent):
                await self._mirror(variant, parent, now)
            case steps.Ungate():
                await writes.patch_workload(variant, wire.open_gate(variant, now))
                told = "The preemption gate of the variant was opened"
                events.workload(variant.metadata, "PreemptionUngatedVariant", told)
            case _:
                assert_never(step)

    async def _mirror(self, variant: Workload, parent: Workload, now: float) -> None:
        counts = {one.name: one.count for one in parent.status.reclaimable_pods}
        if variant.status.reclaimable_pods != parent.status.reclaimable_pods:
            await self._writes.reclaim(variant, counts, now)
        else:
            await self._writes.patch_workload(variant, wire.mirror(variant, parent, now))

    async def _make(self, step: steps.Make) -> None:
        """Create variants of a parent as it is stored: what is watched of it leaves much out."""
        meta = step.parent.metadata
        stored = await self._writes.client.get(workload_target(meta, ""))
        for flavor in step.flavors:
            name, body = composed_variant(stored, flavor)
            try:
                await self._writes.create_workload(meta.namespace, body)
            except AlreadyExistsError:  # of an earlier parent of the same name, and about to go
                self._queue.add_after(meta.key, NAME_TAKEN_S)
                continue
            told = f'Variant Workload "{meta.namespace}/{name}" created'
            self._events.workload(meta, "CreatedVariant", told)

    async def _drop(self, variant: Workload, flavor: str) -> None:
        meta = variant.metadata
        await self._writes.delete(WORKLOADS.at(meta.name, meta.namespace), this_life(meta.uid))
        told = f'Variant Workload "{meta.key}" deleted; flavor "{flavor}" no longer in ClusterQueue'
        self._events.workload(meta, "DeletedVariant", told)

    async def _evict(self, workload: Workload, step: Evict, now: float) -> None:
        await self._writes.patch_workload(workload, outbound.evict(workload, step, now))
        self._events.evicted(workload.metadata, step)
        self._reporter.evicted(workload, step.reason, step.cause)

    async def _admit(self, parent: Workload, variant: Workload, now: float) -> None:
        """Give a parent the admission of a variant, unless that came too late to be kept."""
        late = self._late.withdrawal(variant)
        if late is not None:
            await self._evict(variant, late, now)
            return
        admission = await self._admission_of(variant)
        if admission is None:
            return
        await self._doubts.admit(parent, wire.admit_through(parent, variant, admission, now))
        queue = variant.status.admission.cluster_queue if variant.status.admission else ""
        told = f"Admitted by ClusterQueue {queue}: the variant {variant.metadata.name} is admitted"
        self._events.workload(parent.metadata, "Admitted", told)

    async def _admission_of(self, variant: Workload) -> dict[str, Any] | None:
        """Return the admission of a variant as it is stored."""
        reply = await self._writes.client.get(workload_target(variant.metadata, ""))
        return msgspec.json.decode(reply, type=_Stored).status.admission


def _as_evicted(parent: Workload) -> Evict:
    """Return the eviction of a parent, for the variant that it runs by."""
    evicted = parent.status.true_condition("Evicted")
    reason, message = (evicted.reason, evicted.message) if evicted is not None else ("", "")
    state = parent.status.requeue_state
    at = state.requeue_at if state is not None else None
    known = reason in list(EvictionReason)
    return Evict(
        reason=EvictionReason(reason) if known else EvictionReason.CONCURRENT_ADMISSION,
        message=message,
        requeue_at=None if at is None else at.timestamp(),
        requeue_count=None if state is None else state.count,
    )
