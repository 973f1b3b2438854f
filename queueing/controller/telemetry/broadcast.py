"""Tells the serving process of this replica about readiness, metrics and waiting workloads.

Over a Unix socket (`serving.publisher`). Readiness is sent when it changes; metrics, lists of
pending workloads and explanations when the serving process asks. The controller never waits for
it; one that starts later asks again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

from queueing.clock import Clock
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.core.facts import Fact
from queueing.core.names import CohortName, FlavorName, Key, QueueName, name_of, namespace_of
from queueing.explain import answers
from queueing.explain.model import Answer
from queueing.recording import snapshot
from queueing.reports import queues as reports
from queueing.reports.views import PendingItem
from queueing.serving.exposition import OPEN_METRICS
from queueing.serving.frames import (
    ALL,
    FLAVORS,
    Frame,
    PendingPart,
    PendingRow,
    Question,
    Subject,
    domain_of,
)
from queueing.serving.publisher import Publisher
from queueing.state.engine import Engine
from queueing.state.memory.memory import Memory
from queueing.translate.times import timestamp

logger = logging.getLogger(__name__)

STANDING_EVERY_S = 0.25
"""Seconds between two looks at the readiness."""
ALIVE_EVERY_S = 5.0
"""Seconds between two messages that the controller is alive."""
REST_AFTER_ANSWER = 4.0
"""The pause after an answer, in multiples of the time that it took."""
REST_MIN_S = 0.001
"""The shortest: a question that must wait until a round has ended is asked again after it."""
FACTS_AT_ONCE = 64
"""How many facts of a snapshot are written in one stretch of the event loop."""
SEARCH_S = 0.04
"""For how long remedies are looked for, in one stretch of the event loop."""
FAULT = "the controller fails at this question; its log says why"
"""What is answered where it finds no answer by a fault of its own."""
LATE = "the controller has too much to answer; ask again"
NOT_LEADING = "this replica does not lead any more, or not yet; ask again"


class RefusedError(Exception):
    """There is no answer; the text says why."""


class Broadcast:
    """The messages to the serving process, as loops."""

    def __init__(self, path: Path, reporter: Reporter, clock: Clock) -> None:
        self._publisher = Publisher(path)
        self._reporter, self._clock = reporter, clock
        self._piece = asyncio.Lock()
        """Held for each piece of a snapshot and the rest after it."""

    async def run(self) -> NoReturn:
        """Send and answer, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._publisher.run(), name="publisher")
            group.create_task(self._tell_pending(), name="pending lists")
            group.create_task(self._tell_metrics(), name="metrics")
            for questions in (self._publisher.surroundings, self._publisher.recordings):
                group.create_task(self._tell_snapshots(questions), name="snapshots")
            await self._tell_readiness()

    async def _tell_readiness(self) -> NoReturn:
        """Send the readiness when it changes, and every `ALIVE_EVERY_S`."""
        told: tuple[bool, bool] | None = None
        alive_at = 0.0
        while True:
            readiness, now = self._reporter.readiness, self._clock.monotonic()
            present = (readiness.elected, readiness.ready)
            if present != told or now - alive_at >= ALIVE_EVERY_S:
                told, alive_at = present, now
                leading, ready = present
                self._publisher.publish(Frame(leading=leading, ready=ready, alive=now))
            await asyncio.sleep(STANDING_EVERY_S)

    async def _tell_metrics(self) -> NoReturn:
        """Send metrics when asked: writing those of 1000 queues costs more than 50 admissions.

        With traces there are exemplars, which only OpenMetrics has.
        """
        asked = self._publisher.asked_for_metrics
        while True:
            await asked.wait()
            asked.clear()
            with self._refusing(Question()):
                told = await self._reporter.expose(OPEN_METRICS if self._reporter.traces else "")
                self._publisher.publish(Frame(metrics=told.body.decode()))

    async def _tell_pending(self) -> NoReturn:
        """Answer questions about pending workloads."""
        await answer_in_turn(self._publisher.questions, self._answer, self._clock)

    async def _tell_snapshots(self, questions: asyncio.Queue[Question]) -> NoReturn:
        """Write snapshots when asked, a few facts at a time, in a fifth of the time at most.

        All that are under way have that together, piece by piece in turn.
        """
        while True:
            question = await questions.get()
            with self._refusing(question):
                ensure_awaited(question)
                await self._write(question)

    async def _write(self, question: Question) -> None:
        while (engine := self._memory()[0]).is_within_round:
            await asyncio.sleep(REST_MIN_S)
            ensure_awaited(question)
        if question.snapshot is None:
            return
        facts = wanted(engine.memory, question.snapshot.name)
        if facts is not None:
            await self._send(engine, facts, question)
        self._publisher.publish(Frame(pieces=[(question.number, None)]))

    async def _send(self, engine: Engine, facts: Sequence[Fact], question: Question) -> None:
        """Send a snapshot in pieces: the serving process must not wait for a long one either."""
        begin = snapshot.beginning(engine.memory.settings, self._clock.now())
        self._publisher.publish(Frame(pieces=[(question.number, begin)]))
        for at in range(0, len(facts), FACTS_AT_ONCE):
            async with self._piece:
                began = self._clock.monotonic()
                piece = snapshot.lines(facts[at : at + FACTS_AT_ONCE])
                self._publisher.publish(Frame(pieces=[(question.number, piece)]))
                took_s = self._clock.monotonic() - began
                await asyncio.sleep(max(REST_MIN_S, took_s * REST_AFTER_ANSWER))
            ensure_awaited(question)
            if self._memory()[0] is not engine:
                raise RefusedError(NOT_LEADING)  # it began in an earlier term

    def _memory(self) -> tuple[Engine, Objects]:
        """Return what is known. Raises RefusedError while this process does not lead."""
        memory = self._reporter.memory
        if memory is None:
            raise RefusedError(NOT_LEADING)
        return memory

    @contextlib.contextmanager
    def _refusing(self, question: Question) -> Iterator[None]:
        """Refuse a question that the block refuses, or at which it fails."""
        try:
            yield
        except RefusedError as error:
            self._publisher.publish(Frame(refused={question.number: str(error)}))
        except Exception:
            # Whatever it is, it is a bug that one user's question met; if it ended this process,
            # everybody who may ask could end each leader in turn. Answers change no decision.
            logger.exception("%s cannot be answered: a bug", question)
            self._publisher.publish(Frame(refused={question.number: FAULT}))

    def _answer(self, question: Question) -> None:
        with self._refusing(question):
            ensure_awaited(question)
            self._look(question)

    def _look(self, question: Question) -> None:
        memory = self._memory()
        if question.pending is not None:
            rows = pending_rows(*memory, question.pending)
            self._publisher.publish(Frame(answers={question.number: rows}))
        if question.explain is not None:
            engine, _ = memory
            if engine.is_within_round:
                self._publisher.questions.put_nowait(question)
                return
            began = self._clock.monotonic()
            found = explained(
                engine,
                question.explain,
                lambda: self._clock.monotonic() - began > SEARCH_S,
                self._clock.now(),
            )
            self._publisher.publish(Frame(explanations={question.number: found}))


def wanted(memory: Memory, name: str) -> list[Fact] | None:
    """Return the facts of a snapshot: everything, or what is around a waiting workload."""
    return snapshot.facts_of(memory) if name == ALL else snapshot.facts_around(memory, Key(name))


def ensure_awaited(question: Question) -> None:
    """Raise RefusedError where whoever asked has given up."""
    if question.until is not None and asyncio.get_running_loop().time() > question.until:
        raise RefusedError(LATE)


def explained(
    engine: Engine, subject: Subject, enough: Callable[[], bool], now: float
) -> Answer | None:
    """Explain what is asked about; None when there is no such thing."""
    window = subject.offset, subject.limit
    if subject.kind == FLAVORS and subject.name == ALL:
        return answers.flavors(engine)
    if subject.kind == FLAVORS:
        flavor, domain = FlavorName(subject.name), domain_of(subject.part)
        return answers.flavor(engine, flavor, domain, window, subject.topology)
    if subject.part:
        queue = Key(subject.name) if "/" in subject.name else QueueName(subject.name)
        return answers.line(engine, queue, window, holding=subject.part == "holding")
    match subject.kind:
        case "cohorts":
            name = None if subject.name == ALL else CohortName(subject.name)
            return answers.cohort(engine, name)
        case "clusterqueues":
            return answers.cluster_queue(engine, QueueName(subject.name))
        case "localqueues":
            return answers.local_queue(engine, Key(subject.name))
        case _:
            return answers.workload(engine, Key(subject.name), enough, now)


def pending_rows(engine: Engine, objects: Objects, part: PendingPart) -> list[PendingRow] | None:
    """Return the part of a queue's list that is asked for; None when there is no such queue."""
    items = _items(engine, objects, part)
    if items is None:
        return None
    return _rows(islice(items, part.offset, part.offset + part.limit), objects)


def _items(engine: Engine, objects: Objects, part: PendingPart) -> Iterator[PendingItem] | None:
    if part.cluster_queue:
        name = QueueName(part.cluster_queue)
        is_known = name in engine.memory.objects.queues
        return reports.pending(engine.memory, name) if is_known else None
    key = Key(part.local_queue)
    queue = objects.local_queues.get(key)
    if queue is None:
        return None
    return reports.pending(engine.memory, QueueName(queue.spec.cluster_queue), key)


def _rows(items: Iterable[PendingItem], objects: Objects) -> list[PendingRow]:
    """Return the rows of pending workloads that still exist."""
    rows = []
    for item in items:
        found = objects.workloads.get(item.key)
        if found is None:
            continue
        owners: list[dict[str, object]] = [
            {"apiVersion": one.api_version, "kind": one.kind, "name": one.name, "uid": one.uid}
            for one in found.metadata.owner_references
        ]
        rows.append(
            PendingRow(
                namespace=namespace_of(item.key),
                name=name_of(item.key),
                priority=item.priority,
                local_queue=name_of(item.local_queue) if item.local_queue else "",
                position_in_cluster_queue=item.position_in_cluster_queue,
                position_in_local_queue=item.position_in_local_queue,
                created=timestamp(found.metadata.created),
                owners=owners,
            )
        )
    return rows


async def answer_in_turn(
    questions: asyncio.Queue[Question], answer: Callable[[Question], None], clock: Clock
) -> NoReturn:
    """Answer one question after the other, in a fifth of the event loop's time at most.

    So that users who ask for lists all the time do not delay admissions.
    """
    while True:
        question = await questions.get()
        began = clock.monotonic()
        answer(question)
        await asyncio.sleep(max(REST_MIN_S, (clock.monotonic() - began) * REST_AFTER_ANSWER))
