"""Writes why workloads wait, with what the decisions leave: a few per second, the oldest first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from bench.virtual.slots import Slots
from bench.virtual.store import Store, Write
from queueing.controller.workloads.waiting_reasons import (
    MESSAGE_EVERY_S,
    PATIENCE_S,
    WHEN_BUSY_PER_SECOND,
)
from queueing.core.decisions import Requeue, Wait
from queueing.core.facts import Condition, WorkloadFact
from queueing.core.names import Key


@dataclass(slots=True)
class Reasons:
    """The latest reason of each waiting workload that is not written yet."""

    store: Store
    slots: Slots
    known: Mapping[Key, tuple[WorkloadFact, int]]
    """Workloads as last seen, with their versions."""
    absorb: Callable[[WorkloadFact, int], None]
    """Takes in the reply to a write."""
    _noted: dict[Key, tuple[float, Wait]] = field(default_factory=dict)
    _written: dict[Key, float] = field(default_factory=dict)
    _ticks: bool = False

    def note(self, wait: Wait) -> None:
        """Remember why a workload waits, unless it is only behind others and was not judged."""
        if wait.requeue is Requeue.NOT_HEAD:
            return
        since, _ = self._noted.get(wait.workload, (self.store.time.now, wait))
        self._noted[wait.workload] = (since, wait)
        if not self._ticks:
            self._ticks = True
            self.store.time.after(PATIENCE_S, self._tick)

    def forget(self, key: Key) -> None:
        """Forget a workload that waits no longer."""
        self._noted.pop(key, None)

    def _tick(self, now: float) -> None:
        if not self.slots.all_taken:
            self._write_one(now)
        self._ticks = bool(self._noted)
        if self._ticks:
            self.store.time.after(1.0 / WHEN_BUSY_PER_SECOND, self._tick)

    def _write_one(self, now: float) -> None:
        while self._noted:
            key, (since, wait) = next(iter(self._noted.items()))
            if since + PATIENCE_S > now:
                return
            del self._noted[key]
            if self._is_news(wait, now) and self.slots.hold(key):
                self._written[key] = now
                version = self.known[key][1]
                self.store.write(Write.REASON, partial(self._end, wait, version))
                return

    def _is_news(self, wait: Wait, now: float) -> bool:
        fact, _ = self.known[wait.workload]
        said = fact.conditions.get("QuotaReserved")
        if said is None or said.reason != wait.reason:
            return not fact.holds_quota and not fact.finished
        written = self._written.get(wait.workload, -MESSAGE_EVERY_S)
        return not said.status and said.message != wait.message and now >= written + MESSAGE_EVERY_S

    def _end(self, wait: Wait, version: int) -> None:
        """End a write; it is dropped if the workload has changed meanwhile."""
        key = wait.workload
        if self.store.versions[key] == version:
            fact = self.store.workloads[key]
            told = Condition(
                type="QuotaReserved",
                status=False,
                reason=wait.reason,
                message=wait.message,
                changed=self.store.stamp(),
            )
            conditions = {**fact.conditions, "QuotaReserved": told}
            self.store.put(replace(fact, conditions=conditions))
            self.absorb(self.store.workloads[key], self.store.versions[key])
        self.slots.let_go(key)
