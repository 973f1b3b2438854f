import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from queueing.controller.stores.objects import Objects
from queueing.controller.workloads.waiting_reasons import WaitingReasons
from queueing.controller.writing.events import Events
from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.names import Key, Uid
from queueing.core.settings import Compatibility
from queueing.kube.errors import InvalidError, KubeError, LostError
from queueing.kube.events import EventNote, Regarding
from queueing.testing.hand_clock import HandClock
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job


@dataclass
class Stage:
    """A server that takes everything, and what was written."""

    mode: Compatibility = Compatibility.QUEUEING
    fails: KubeError | None = None

    def __post_init__(self) -> None:
        self.clock = HandClock()
        self.objects = Objects()
        self.written: list[bytes] = []
        self.events: list[str] = []
        events = Events(self, self.mode)
        self.reason: Wait | None = None
        self.server_is_there = asyncio.Event()
        self.server_is_there.set()
        self.reasons = WaitingReasons(self.objects, self, events, self.clock, knowledge=self)

    def waiting(self, _: Key) -> Wait | None:
        return self.reason

    def settled(self, workload: Key) -> Wait | None:
        return None if self.reason is None else replace(self.reason, workload=workload)

    def pending_keys(self) -> list[Key]:
        return list(self.objects.workloads)

    async def patch_workload(self, _: Workload, body: bytes) -> None:
        await self.server_is_there.wait()
        if self.fails is not None:
            raise self.fails
        self.written.append(body)

    def record(self, regarding: Regarding, note: EventNote) -> None:
        self.events.append(f"{note.type} {regarding.kind} {note.reason}: {note.message}")

    def put_job(self, name: str) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": name}
        self.objects.put_job(batch_job({"metadata": metadata, "spec": {"template": {"spec": {}}}}))

    def put(self, *conditions: dict[str, Any], name: str = "w", owners: Sequence[str] = ()) -> None:
        named = [{"kind": "Job", "name": one, "uid": one} for one in owners]
        names = {"name": name, "namespace": "ns", "uid": "u", "resourceVersion": "1"}
        metadata = {**names, "ownerReferences": named}
        document = {"metadata": metadata, "status": {"conditions": list(conditions)}}
        self.objects.put_workload(read(Workload, document))

    async def pass_time(self, seconds: float) -> None:
        self.clock.time += seconds
        await self.reasons.write_one()

    async def rest(self, seconds: int) -> None:
        """Let the server be at rest for a while."""
        for _ in range(5 * seconds):
            await self.pass_time(0.2)
            self.reasons.compare()


def wait(message: str = "1 more needed", requeue: Requeue = Requeue.INADMISSIBLE) -> Wait:
    return Wait(
        workload=Key("ns/w"),
        uid=Uid("u"),
        cluster_queue=None,
        requeue=requeue,
        reason=Reason.WAITING_FOR_QUOTA,
        message=message,
    )


SAID = {
    "type": "QuotaReserved",
    "status": "False",
    "reason": "WaitingForQuota",
    "message": "1 more needed",
}


async def test_one_that_is_admitted_soon_is_never_said_to_wait() -> None:
    stage = Stage()
    stage.put()
    stage.reasons.note(wait())
    await stage.pass_time(0.5)
    stage.reasons.forget(Key("ns/w"))
    await stage.pass_time(5)
    assert stage.written == []


OF_THE_WORKLOAD = "Warning Workload WaitingForQuota: 1 more needed"
OF_A_JOB = "Warning Job WaitingForQuota: Workload w waits: 1 more needed"


@pytest.mark.parametrize(
    ("mode", "owners", "events"),
    [
        pytest.param(
            Compatibility.QUEUEING, ["a"], [OF_THE_WORKLOAD, OF_A_JOB], id="its Job is told as well"
        ),
        pytest.param(
            Compatibility.QUEUEING,
            ["a", "b", "gone"],
            [OF_THE_WORKLOAD, OF_A_JOB, OF_A_JOB],
            id="each of a gang",
        ),
        pytest.param(Compatibility.QUEUEING, [], [OF_THE_WORKLOAD], id="nobody owns it"),
        pytest.param(Compatibility.KUEUE, ["a"], [OF_THE_WORKLOAD], id="Kueue tells no Job"),
    ],
)
async def test_a_reason_that_is_written_is_told_in_an_event(
    mode: Compatibility, owners: list[str], events: list[str]
) -> None:
    stage = Stage(mode=mode)
    for name in ("a", "b"):
        stage.put_job(name)
    stage.put(owners=owners)
    stage.reasons.note(wait())
    await stage.pass_time(2)
    assert len(stage.written) == 1
    assert stage.events == events


async def test_new_numbers_are_told_of_the_workload_alone() -> None:
    stage = Stage()
    stage.put_job("a")
    stage.put(SAID, owners=["a"])
    note_again(stage)
    await stage.pass_time(2)
    assert stage.events == ["Warning Workload WaitingForQuota: 2 more needed"]


async def test_nothing_is_told_that_was_not_written() -> None:
    stage = Stage(fails=LostError("no answer"))
    stage.put()
    stage.reasons.note(wait())
    await stage.pass_time(2)
    assert stage.events == []


def note_again(stage: Stage) -> None:
    stage.reasons.note(wait("2 more needed"))


@pytest.mark.parametrize(
    ("conditions", "prepare"),
    [
        pytest.param([SAID], lambda stage: stage.reasons.note(wait()), id="said already"),
        pytest.param([{**SAID, "status": "True"}], note_again, id="it holds quota by now"),
        pytest.param(
            [{"type": "Requeued", "status": "False", "reason": "Deactivated"}],
            note_again,
            id="what set it aside has said why",
        ),
        pytest.param([{"type": "Finished", "status": "True"}], note_again, id="it has ended"),
        pytest.param(
            [],
            lambda stage: stage.reasons.note(wait(requeue=Requeue.NOT_HEAD)),
            id="it was not its turn",
        ),
    ],
)
async def test_nothing_is_written(
    conditions: list[dict[str, Any]], prepare: Callable[[Stage], None]
) -> None:
    stage = Stage()
    stage.put(*conditions)
    prepare(stage)
    await stage.pass_time(2)
    assert stage.written == []


async def test_new_numbers_for_an_old_reason_are_written_seldom() -> None:
    stage = Stage()
    stage.put(SAID)
    note_again(stage)
    await stage.pass_time(2)
    note_again(stage)
    await stage.pass_time(2)
    assert len(stage.written) == 1
    note_again(stage)
    await stage.pass_time(40)
    assert len(stage.written) == 2


async def test_what_a_deleted_workload_said_holds_nothing_back_of_the_next_one_of_its_name() -> (
    None
):
    stage = Stage()
    stage.put()
    note_again(stage)
    await stage.pass_time(2)
    assert len(stage.written) == 1
    stage.objects.drop_workload(Key("ns/w"))
    stage.reasons.expect(Key("ns/w"))
    stage.put(SAID)
    note_again(stage)
    await stage.pass_time(2)
    assert len(stage.written) == 2


async def test_one_that_another_stands_for_gets_its_reason_later() -> None:
    stage = Stage()
    stage.put()
    stage.reasons.expect(Key("ns/w"))
    stage.reason = wait()
    await stage.pass_time(2)
    assert stage.written == []
    await stage.pass_time(4)
    await stage.pass_time(2)
    assert len(stage.written) == 1


async def test_one_behind_the_head_is_looked_at_again_until_there_is_a_reason() -> None:
    stage = Stage()
    stage.put()
    stage.reasons.expect(Key("ns/w"))
    stage.reason = wait(requeue=Requeue.NOT_HEAD)
    await stage.pass_time(6)
    await stage.pass_time(2)
    assert stage.written == []
    stage.reason = wait()
    await stage.pass_time(6)
    await stage.pass_time(2)
    assert len(stage.written) == 1


async def test_one_that_is_admitted_meanwhile_is_not_asked_about() -> None:
    stage = Stage()
    stage.put()
    stage.reasons.expect(Key("ns/w"))
    stage.reasons.forget(Key("ns/w"))
    stage.reason = wait()
    await stage.pass_time(6)
    await stage.pass_time(2)
    assert stage.written == []


async def test_one_that_says_something_is_not_asked_about() -> None:
    stage = Stage()
    stage.put(SAID)
    stage.reasons.expect(Key("ns/w"))
    stage.reason = wait("2 more needed")
    await stage.pass_time(6)
    await stage.pass_time(2)
    assert stage.written == []


async def test_one_that_is_active_again_is_not_said_to_be_deactivated() -> None:
    stage = Stage()
    stage.put({**SAID, "reason": "Deactivated", "message": "The workload is deactivated"})
    stage.reasons.expect(Key("ns/w"))
    stage.reason = wait("Waiting for its turn in the queue", Requeue.NOT_HEAD)
    await stage.pass_time(6)
    await stage.pass_time(2)
    (written,) = stage.written
    assert b"Waiting for its turn" in written


@pytest.mark.parametrize(
    ("conditions", "writes"),
    [
        pytest.param([], 1, id="nothing was said yet"),
        pytest.param([{**SAID, "reason": "PendingEvaluation"}], 1, id="another reason"),
        pytest.param([{**SAID, "message": "2 more needed"}], 0, id="other numbers can wait"),
        pytest.param([{**SAID, "status": "True"}], 0, id="it holds quota by now"),
    ],
)
async def test_a_reason_that_somebody_waits_for_is_written_once_and_at_once(
    conditions: list[dict[str, Any]], writes: int
) -> None:
    stage = Stage()
    stage.put(*conditions)
    stage.reasons.note(wait())
    await asyncio.gather(*(stage.reasons.tell(Key("ns/w")) for _ in range(3)))
    assert len(stage.written) == writes


async def test_nobody_goes_on_before_the_reason_is_written() -> None:
    stage = Stage()
    stage.put()
    stage.reasons.note(wait())
    stage.server_is_there = asyncio.Event()
    asking = [asyncio.create_task(stage.reasons.tell(Key("ns/w"))) for _ in range(2)]
    await asyncio.sleep(0)
    assert not any(one.done() for one in asking)
    stage.server_is_there.set()
    await asyncio.gather(*asking)
    assert len(stage.written) == 1


async def test_who_has_no_reason_to_tell_keeps_nobody_waiting() -> None:
    stage = Stage()
    stage.put()
    await stage.reasons.tell(Key("ns/w"))
    await stage.reasons.tell(Key("ns/unknown"))
    assert stage.written == []


TWINS = 10
OLD = {**SAID, "message": "4 more needed"}


async def test_whose_twin_was_judged_again_says_the_same_after_a_while() -> None:
    stage = Stage()
    for number in range(TWINS):
        stage.put(OLD, name=f"twin-{number}")
    stage.reason = wait()
    await stage.rest(4)
    assert 0 < len(stage.written) <= 2 * 4
    await stage.rest(4)
    assert len(stage.written) == TWINS
    assert all(b"1 more needed" in one for one in stage.written)
    for number in range(TWINS):
        stage.put(SAID, name=f"twin-{number}")
    await stage.rest(40)
    assert len(stage.written) == TWINS


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        pytest.param([], wait(), id="one that says nothing yet is asked about elsewhere"),
        pytest.param([OLD], None, id="its turn may come any moment"),
        pytest.param([OLD], wait(requeue=Requeue.NOT_HEAD), id="it waits for its turn"),
        pytest.param([{**OLD, "status": "True"}], wait(), id="it holds quota by now"),
    ],
)
async def test_nothing_is_corrected(conditions: list[dict[str, Any]], reason: Wait | None) -> None:
    stage = Stage()
    stage.put(*conditions)
    stage.reason = reason
    await stage.rest(40)
    assert stage.written == []


@pytest.mark.parametrize(
    ("error", "writes"),
    [
        pytest.param(LostError("no answer"), 1, id="no answer"),
        pytest.param(InvalidError("not so"), 0, id="refused for good"),
    ],
)
async def test_a_reason_that_was_not_written_is_written_later_unless_it_was_refused(
    error: KubeError, writes: int
) -> None:
    stage = Stage(fails=error)
    stage.put()
    stage.reason = wait()
    stage.reasons.note(wait())
    await stage.pass_time(2)
    stage.fails = None
    await stage.pass_time(6)
    await stage.pass_time(2)
    assert len(stage.written) == writes
