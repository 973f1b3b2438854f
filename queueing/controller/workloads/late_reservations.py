"""Finds reservations of an earlier leader that reached the API server too late.

A leader may be frozen (a suspended virtual machine, say) with a write in flight. That write may
land after the next leader has listed all objects and given the quota to another Workload. The new
leader then sees a reservation that it did not make. If it exceeds the quota, the Workload is
evicted before any pod of it starts, the newest of several first.
"""

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.state.engine import Engine
from queueing.translate.jobs.variants import parent_of
from queueing.translate.wire.workloads import Workload

MESSAGE = "Withdrawn: an earlier leader reserved quota that by now belongs to others"
_SPARE = 1_000
"""How many uids of deleted Workloads may be remembered before they are forgotten."""


class LateReservations:
    """Remembers the reservations of this term, and judges all others before their start."""

    def __init__(self, objects: Objects, engine: Engine) -> None:
        self._objects, self._engine = objects, engine
        self._ours: set[str] = set()

    def claim(self, life: str) -> None:
        """Note the uid of a Workload whose admission was decided in this term."""
        self._ours.add(life)
        if len(self._ours) > 2 * len(self._objects.workloads) + _SPARE:
            self._ours &= {one.metadata.life for one in self._objects.workloads.values()}

    def withdrawal(self, workload: Workload) -> Evict | None:
        """Return the eviction that must come instead of a start; None if the Workload may start.

        It may if this term decided its admission, or if its quota is free when newer late
        reservations do not count.
        """
        if workload.metadata.life in self._ours:
            return None
        key = workload.metadata.key
        if not self._engine.exceeds(key):
            return None
        if not self._engine.exceeds(key, self._newer_than(workload)):
            return None
        return Evict(reason=EvictionReason.PREEMPTED, message=MESSAGE)

    def _newer_than(self, workload: Workload) -> list[Key]:
        """Return late reservations, not started yet, that are newer than this one."""
        mine = _age(workload)
        return [
            key
            for key, other in self._objects.workloads.items()
            if other.metadata.life not in self._ours
            and other.status.is_true("QuotaReserved")
            and not other.finished
            and _age(other) > mine
            and self._waits_for_its_start(other)
        ]

    def _waits_for_its_start(self, workload: Workload) -> bool:
        above = parent_of(workload.metadata)
        if above is not None:  # a variant: by it runs what its parent runs
            parent = self._objects.workloads.get(Key(f"{workload.metadata.namespace}/{above.name}"))
            return parent is None or not parent.status.is_true("QuotaReserved")
        jobs = self._objects.jobs
        keys = self._objects.job_keys
        owners = [keys.get(owner.uid) for owner in workload.metadata.owner_references]
        return all(jobs[key].suspended for key in owners if key is not None)


def _age(workload: Workload) -> tuple[float, str]:
    return workload.status.changed("QuotaReserved") or 0.0, workload.metadata.key
