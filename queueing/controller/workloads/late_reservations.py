"""Reservations that an earlier leader made and that reached the server too late.

A write of a leader that was frozen may land after its successor has listed everything and given the
room to somebody else. The successor sees a reservation that it did not make. If the tree cannot
bear a late reservation, it is withdrawn before any pod of it starts, the newest first.
"""

from collections.abc import Callable, Iterable

from queueing.controller.stores.objects import Objects
from queueing.core.lifecycle.steps import Evict, EvictionReason
from queueing.core.names import Key
from queueing.translate.wire.workloads import Workload

MESSAGE = "Withdrawn: an earlier leader reserved quota that by now belongs to others"
_SPARE = 1_000
"""Lives remembered beyond those that exist, before they are looked through."""


class LateReservations:
    """Tells reservations of this term from those of earlier ones."""

    def __init__(self, objects: Objects, exceeds: Callable[[Key, Iterable[Key]], bool]) -> None:
        self._objects, self._exceeds = objects, exceeds
        self._ours: set[str] = set()

    def claim(self, life: str) -> None:
        """Note that the admission of this life of a Workload was decided in this term."""
        self._ours.add(life)
        if len(self._ours) > 2 * len(self._objects.workloads) + _SPARE:
            self._ours &= {one.metadata.life for one in self._objects.workloads.values()}

    def withdrawal(self, workload: Workload) -> Evict | None:
        """Return the eviction that must come instead of a start, if the tree cannot bear it."""
        key = workload.metadata.key
        if workload.metadata.life in self._ours or not self._exceeds(key, ()):
            return None
        if not self._exceeds(key, self._newer_than(workload)):
            return None
        return Evict(reason=EvictionReason.PREEMPTED, message=MESSAGE)

    def _newer_than(self, workload: Workload) -> list[Key]:
        """Return those that are as late and reserved after it: they go first."""
        mine = _age(workload)
        return [
            key
            for key, other in self._objects.workloads.items()
            if other.metadata.life not in self._ours
            and other.status.is_true("QuotaReserved")
            and not other.status.is_true("Finished")
            and _age(other) > mine
            and self._waits_for_its_start(other)
        ]

    def _waits_for_its_start(self, workload: Workload) -> bool:
        jobs = self._objects.jobs
        keys = self._objects.job_keys
        owners = [keys.get(owner.uid) for owner in workload.metadata.owner_references]
        return all(jobs[key].spec.suspend for key in owners if key is not None)


def _age(workload: Workload) -> tuple[float, str]:
    return workload.status.changed("QuotaReserved") or 0.0, workload.metadata.key
