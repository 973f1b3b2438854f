"""Who creates workloads, and who ends those that were admitted and drains those evicted."""

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from bench.virtual.loads import Stream
from bench.virtual.store import Store, Write
from queueing.core.facts import Condition, PodSet, WorkloadFact
from queueing.core.names import Key
from queueing.sim import transitions
from queueing.testing.builders import NAMESPACE, pod_set, workload

AT_ONCE = 5
"""Writes in flight of the runner, as many as Kueue's own has."""


class Creator:
    """Creates the workloads of one stream when they are due, one write at a time."""

    def __init__(self, stream: Stream, store: Store, luck: random.Random) -> None:
        self._stream, self._store, self._luck = stream, store, luck
        self._made: Iterator[int] = iter(range(stream.count))
        self._shapes: dict[int, PodSet] = {}

    def start(self) -> None:
        """Plan the first creation."""
        self._next()

    def _next(self) -> None:
        number = next(self._made, None)
        if number is not None:
            self._store.time.at(self._stream.due_s(number), partial(self._create, number))

    def _create(self, number: int, _now: float) -> None:
        self._store.write(Write.CREATE, partial(self._created, number))

    def _created(self, number: int) -> None:
        stream = self._stream
        cpu = stream.cores(number) * 1_000
        shape = self._shapes.setdefault(cpu, pod_set({"cpu": cpu}))
        made = workload(
            str(stream.key(number)),
            uid=f"{self._luck.getrandbits(64):016x}",
            local_queue=f"{NAMESPACE}/{stream.queue}",
            pod_sets=(shape,),
            priority=stream.priority,
            created=self._store.stamp(),
        )
        self._store.put(made)
        self._next()


@dataclass(slots=True)
class Runner:
    """Finishes what has run for its time, and clears and requeues what was evicted."""

    store: Store
    streams: Mapping[Key, Stream]
    _runs: dict[Key, int] = field(default_factory=dict)
    """Version in which a running workload was seen admitted: the name of its run."""
    _leaving: set[Key] = field(default_factory=set)
    _waiting: deque[tuple[Write, Callable[[], None]]] = field(default_factory=deque)
    _flying: int = 0

    def watch(self, fact: WorkloadFact, version: int) -> None:
        """Take in a watch event of a workload."""
        key = fact.key
        if not fact.holds_quota:
            return
        if fact.evicted:
            if key not in self._leaving:
                self._leaving.add(key)
                self.store.time.after(self.streams[key].leaves_s, partial(self._has_left, key))
        elif fact.admitted and key not in self._runs:
            self._runs[key] = version
            runs_s = self.streams[key].runs_s
            self.store.time.after(runs_s, partial(self._has_run, key, version))

    def _has_run(self, key: Key, version: int, _now: float) -> None:
        if self._runs.get(key) == version and key not in self._leaving:
            self._do(Write.FINISH, partial(self._finish, key))

    def _has_left(self, key: Key, _now: float) -> None:
        self._do(Write.CLEARING, partial(self._clear, key))

    def _finish(self, key: Key) -> None:
        fact, now = self.store.workloads[key], self.store.stamp()
        done = Condition(type="Finished", status=True, reason="Succeeded", changed=now)
        self.store.put(replace(fact, conditions={**fact.conditions, "Finished": done}))

    def _clear(self, key: Key) -> None:
        fact = self.store.workloads[key]
        if not fact.holds_quota:
            return  # it had ended before it could leave
        del self._runs[key]
        self._leaving.discard(key)
        freed = transitions.drained(fact, now=self.store.stamp())
        held = replace(freed.conditions["Requeued"], status=False)
        self.store.put(replace(freed, conditions={**freed.conditions, "Requeued": held}))
        self._do(Write.REQUEUE, partial(self._requeue, key))

    def _requeue(self, key: Key) -> None:
        fact, now = self.store.workloads[key], self.store.stamp()
        again = replace(fact.conditions["Requeued"], status=True, changed=now)
        self.store.put(replace(fact, conditions={**fact.conditions, "Requeued": again}))

    def _do(self, kind: Write, act: Callable[[], None]) -> None:
        self._waiting.append((kind, act))
        self._start_what_may()

    def _start_what_may(self) -> None:
        while self._waiting and self._flying < AT_ONCE:
            kind, act = self._waiting.popleft()
            self._flying += 1
            self.store.write(kind, partial(self._written, act))

    def _written(self, act: Callable[[], None]) -> None:
        self._flying -= 1
        act()
        self._start_what_may()
