"""What can go wrong while work is saved, failure by failure, in virtual time.

Each is lived through by one leader that never sleeps, by leaders that are killed after every look
and begin anew from the stored object, and by one that an overloaded API server lets look only each
seven seconds. The end is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from queueing.checkpoints.rules.answers import Heard, PodState, SaveAnswer, Voice, Word, combine
from queueing.checkpoints.rules.phases import HOLDS_THE_STOP, Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.step import Happening, force_at, look_again_at, settle, step
from queueing.checkpoints.rules.terms import Driver, OnFailure, Terms
from queueing.checkpoints.wire import inbound, outbound
from queueing.checkpoints.wire import objects as wire
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

BEGIN = 1_790_000_000.0
TERMS = Terms(
    driver=Driver.ANNOTATION,
    ack_s=20,
    save_s=100,
    save_max_s=200,
    heartbeat_s=10,
    grace_s=30,
    force_after_s=30,
    refusal_delay_s=30,
)
RANKS = ("rank-0", "rank-1")
WORKLOAD = msgspec.convert({"metadata": {"name": "w", "namespace": "team", "uid": "u"}}, Workload)
JOB = batch_job({"metadata": {"name": "j", "namespace": "team", "uid": "j"}})


def stored(record: Record) -> Record:
    """Write a record and read it again, as the next leader does."""
    origin = outbound.RequestOwners(workload=WORKLOAD, jobs=(JOB,), policy="team/save")
    made = msgspec.json.decode(outbound.made(origin, record.request))
    status = msgspec.json.decode(outbound.status(WORKLOAD.metadata, record))["status"]
    kept = {name: value for name, value in status.items() if value is not None}
    return inbound.record(msgspec.convert({**made, "status": kept}, wire.Checkpoint))


@dataclass(slots=True)
class World:
    """A request, the pods of a gang of two, and somebody who leads."""

    kills: bool
    look_every_s: float
    terms: Terms
    spared: int
    voices: dict[str, Voice] = field(default_factory=dict)
    heard: Heard = field(default_factory=Heard)
    record: Record = field(init=False)
    ended: bool = False
    withdrawn: bool = False
    gone_at: float | None = None
    """When the pods end once they are told to; None while they do not."""
    told_at: float | None = None

    def __post_init__(self) -> None:
        cause = StopCause("Preempted", "p")
        request = SaveRequest.made("r", 1, cause, terms=self.terms, now=BEGIN)
        self.record = Record(request=request)
        self.voices = {name: Voice(condition=PodState.RUNNING) for name in RANKS}

    def live(self, script: Sequence["Act"]) -> None:
        """Let time go on, look after look, until the request is over."""
        coming, now = sorted(script, key=lambda one: one.at), BEGIN
        while self.record.is_open:
            assert now < BEGIN + 1_000, f"still {self.record.phase}"
            while coming and BEGIN + coming[0].at <= now:
                coming.pop(0).do(self)
            self._look(now)
            now += self.look_every_s

    def _look(self, now: float) -> None:
        if self.kills:
            self.record, self.heard = stored(self.record), Heard()
        record = self._taken(self.record, now)
        record = settle(record, now, spared_before=self.spared)
        if record.phase is Phase.SELECTED and not record.asks_nobody:
            happening = Happening(event=RequestEvent.NOTICE_DELIVERED, asked=RANKS)
            record = step(record, happening, now) or record
        if record.phase not in HOLDS_THE_STOP and self.told_at is None:
            self.told_at = now
        self.record = record

    def _taken(self, record: Record, now: float) -> Record:
        """Take what the world says: the end, a withdrawal, pods that are gone, and answers."""
        if self.ended:
            return step(record, Happening(event=RequestEvent.ENDED), now) or record
        if self.withdrawn:
            record = step(record, Happening(event=RequestEvent.WITHDRAWN), now) or record
        if record.phase in (Phase.NOTIFIED, Phase.SAVING, Phase.REFUSED):
            happening, self.heard = combine(record, self.voices, self.heard)
            record = (step(record, happening, now) if happening else None) or record
        if record.phase is Phase.SUSPENDING:
            forced = force_at(record)
            left = self.gone_at is not None and self.gone_at <= now
            if left or (forced is not None and forced <= now):
                record = step(record, Happening(event=RequestEvent.PODS_GONE), now) or record
        for event in (RequestEvent.QUOTA_RELEASED, RequestEvent.RETURNED):
            record = step(record, Happening(event=event), now) or record
        return record


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens so many seconds after the request was made."""

    at: float
    do: Callable[[World], None]


def says(at: float, word: Word, /, *ranks: str, **more: object) -> Act:
    """Have some ranks, or all, answer."""
    answer = SaveAnswer(**{"request_id": "r", "epoch": 1, "word": word, **more})  # type: ignore[arg-type] # a table of fields

    def do(world: World) -> None:
        for rank in ranks or RANKS:
            world.voices[rank] = replace(world.voices[rank], answer=answer)

    return Act(at, do)


def beats(until: float) -> list[Act]:
    """Have all ranks say each five seconds that they still save, and get further."""
    times = [float(at) for at in range(10, int(until), 5)]
    return [says(at, Word.HEARTBEAT, beat=str(at), progress=at) for at in times]


def dies(at: float, rank: str) -> Act:
    def do(world: World) -> None:
        world.voices[rank] = replace(world.voices[rank], condition=PodState.LOST)

    return Act(at, do)


def set_true(at: float, name: str) -> Act:
    return Act(at, lambda world: setattr(world, name, True))


def drained(at: float) -> Act:
    return Act(at, lambda world: setattr(world, "gone_at", BEGIN + at))


@dataclass(frozen=True, slots=True)
class End:
    """How a request is to end, and until when the pods are told to; None: never."""

    phase: Phase
    outcome: SaveOutcome | None
    told_by: float | None
    after_kills: float = 0.0
    """The same where every look is that of a new leader, who takes what it hears for new."""


ACCEPTED, SAVED, FAILED = Word.ACCEPTED, Word.SAVED, Word.FAILED
GONE = drained(0)
"""Pods that end as soon as they are told to."""
LATEST = 20.0 + 200.0 + 30.0 + 20.0
STOPPED: Mapping[str, tuple[list[Act], End]] = {
    "all goes well": (
        [GONE, says(5, ACCEPTED), says(9, SAVED, uri="s3://b/1", step=7)],
        End(Phase.REQUEUED, SaveOutcome.SAVED, 9),
    ),
    "the hook hangs": ([GONE], End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 20)),
    "the hook hangs after it has accepted": (
        [GONE, says(5, ACCEPTED)],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 35, after_kills=5 + 100),
    ),
    "it says that it failed": (
        [GONE, says(5, FAILED, message="disk full")],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 5),
    ),
    "it lies that it has saved": (
        [GONE, says(0, SAVED)],
        End(Phase.REQUEUED, SaveOutcome.SAVED, 0),
    ),
    "it answers late": (
        [GONE, says(40, SAVED)],
        End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 20),
    ),
    "it answers to an old epoch": (
        [GONE, says(5, SAVED, epoch=0)],
        End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 20),
    ),
    "it answers to another request": (
        [GONE, says(5, SAVED, request_id="other")],
        End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 20),
    ),
    "it says that something old is fresh": (
        [GONE, says(5, Word.ALREADY_FRESH, at=BEGIN - 9_000)],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 35),
    ),
    "one rank dies while it saves": (
        [GONE, says(5, ACCEPTED), says(8, SAVED, "rank-0"), dies(9, "rank-1")],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 9),
    ),
    "all ranks die": (
        [GONE, says(5, ACCEPTED), dies(9, "rank-0"), dies(9, "rank-1")],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 9),
    ),
    "a node is lost with a rank that never answered": (
        [says(5, ACCEPTED, "rank-0")],
        End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 20),
    ),
    "pods are stuck in their end": (
        [says(5, ACCEPTED), says(9, SAVED)],
        End(Phase.REQUEUED, SaveOutcome.SAVED, 9),
    ),
    "a save that never ends": (
        [GONE, says(5, ACCEPTED), *beats(600)],
        End(Phase.REQUEUED, SaveOutcome.FAILED, 5 + 200),
    ),
    "it asks for a later time and falls silent": (
        [GONE, says(5, Word.REFUSED, delay_s=1e9)],
        End(Phase.REQUEUED, SaveOutcome.UNRESPONSIVE, 5 + 30 + 20),
    ),
    "the preemptor is gone while it saves": (
        [GONE, says(5, ACCEPTED), set_true(9, "withdrawn")],
        End(Phase.CANCELLED, None, None),
    ),
    "the victim completes before it has answered": (
        [set_true(9, "ended")],
        End(Phase.FINISHED, None, None),
    ),
}
LEADERS = [
    pytest.param(False, 0.5, id="one leader"),
    pytest.param(True, 0.5, id="killed after every look"),
    pytest.param(False, 7.0, id="slow API server"),
    pytest.param(True, 7.0, id="slow and killed"),
]


@pytest.mark.parametrize(("kills", "look_every_s"), LEADERS)
@pytest.mark.parametrize("name", STOPPED)
def test_a_failure_ends_as_it_should_whoever_leads(
    name: str, kills: bool, look_every_s: float
) -> None:
    script, end = STOPPED[name]
    world = World(kills=kills, look_every_s=look_every_s, terms=TERMS, spared=0)
    world.live(script)
    assert (world.record.phase, world.record.outcome) == (end.phase, end.outcome)
    if end.told_by is None:
        assert world.told_at is None or end.phase is Phase.FINISHED
    else:
        assert world.told_at is not None
        lag = 3 * look_every_s
        told_by = max(end.told_by, end.after_kills if kills else 0.0)
        assert world.told_at <= BEGIN + told_by + lag
        assert world.told_at <= world.record.request.save_by + lag


@pytest.mark.parametrize(
    ("choice", "spared", "stays"),
    [
        pytest.param(OnFailure.PROCEED, 0, False, id="Proceed"),
        pytest.param(OnFailure.TRY_OTHER_VICTIM, 0, True, id="TryOtherVictim, first"),
        pytest.param(OnFailure.TRY_OTHER_VICTIM, 1, True, id="TryOtherVictim, second"),
        pytest.param(
            OnFailure.TRY_OTHER_VICTIM, 2, False, id="TryOtherVictim, two rounds are over"
        ),
        pytest.param(OnFailure.ABORT, 9, True, id="Abort"),
    ],
)
@pytest.mark.parametrize("failure", ["the hook hangs", "one rank dies while it saves"])
def test_what_becomes_of_a_victim_that_saved_nothing(
    failure: str, choice: OnFailure, spared: int, stays: bool
) -> None:
    terms = replace(TERMS, on_failure=choice)
    world = World(kills=True, look_every_s=0.5, terms=terms, spared=spared)
    world.live(STOPPED[failure][0])
    assert (world.record.phase is Phase.CANCELLED) is stays
    assert (world.told_at is None) is stays


def test_two_leaders_make_the_same_request() -> None:
    first, second = (outbound.request_id(WORKLOAD, 3) for _ in range(2))
    assert first == second
    assert outbound.name_of(WORKLOAD, 3) == outbound.name_of(WORKLOAD, 3)
    assert outbound.request_id(WORKLOAD, 4) != first
    assert outbound.name_of(WORKLOAD, 4) != outbound.name_of(WORKLOAD, 3)


def test_nobody_waits_longer_than_the_request_says() -> None:
    request = SaveRequest.made("r", 1, StopCause("Preempted", "p"), terms=TERMS, now=BEGIN)
    assert request.save_by == BEGIN + LATEST
    assert look_again_at(Record(request=request)) == BEGIN + TERMS.ack_s
