import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from queueing.kube.client import Client
from queueing.kube.errors import ConflictError, LostError, NotFoundError, UnavailableError
from queueing.kube.lease import Lease, LeaseSettings, LeaseTerm
from queueing.kube.lease_record import KubeLeaseStore, LeaseRecord
from queueing.testing.virtual_time import LoopClock, in_no_time

A = LeaseSettings(identity="a")
B = LeaseSettings(identity="b")


@dataclass
class MemoryStore:
    """One Lease for several competitors; `fault` may fail or delay any of their calls."""

    record: LeaseRecord | None = None
    writes: int = 0
    fault: Callable[[str], Awaitable[None]] | None = None
    after_write: Callable[[], Awaitable[None]] | None = None
    held_by: list[str] = field(default_factory=list)

    async def read(self, timeout_s: float) -> LeaseRecord | None:
        await self._meet("read", timeout_s)
        return self.record

    async def write(self, record: LeaseRecord, timeout_s: float) -> LeaseRecord:
        await self._meet(record.holder, timeout_s)
        if record.version != (self.record.version if self.record else ""):
            raise ConflictError("another version")
        self.writes += 1
        self.record = replace(record, version=str(self.writes))
        self.held_by.append(record.holder)
        if self.after_write is not None:
            await self.after_write()
        return self.record

    async def _meet(self, what: str, timeout_s: float) -> None:
        if self.fault is None:
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self.fault(what)
        except TimeoutError as error:
            raise LostError("no reply") from error


@dataclass
class Leader:
    """What `lead` does in these tests: note when it began and ended."""

    clock: LoopClock
    log: list[str] = field(default_factory=list)
    terms: list[LeaseTerm] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, term: LeaseTerm) -> None:
        self.terms.append(term)
        self.log.append(f"begin@{self.clock.monotonic():.0f}")
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.log.append(f"end@{self.clock.monotonic():.0f}")
            self.ended.set()


def lease(store: MemoryStore, settings: LeaseSettings, clock: LoopClock) -> Lease:
    return Lease(store, settings, clock, draw=lambda: 0.0)


def test_the_first_one_leads_at_once_and_keeps_the_lease() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)
        mine = lease(store, A, clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(mine.run(leader))
            await leader.began.wait()
            await asyncio.sleep(3600)
            assert mine.term == LeaseTerm("a", 0)
            assert mine.fence.valid_for_longer_than(10.0)
            running.cancel()
        assert leader.log == ["begin@0", "end@3600"]
        assert store.writes >= 1800, "renewed every two seconds"

    in_no_time(scene)


def test_a_released_lease_is_taken_without_waiting() -> None:
    async def scene(clock: LoopClock) -> None:
        store, first, second = MemoryStore(), Leader(clock), Leader(clock)
        mine, other = lease(store, A, clock), lease(store, B, clock)
        async with asyncio.TaskGroup() as group:
            old = group.create_task(mine.run(first))
            await first.began.wait()
            new = group.create_task(other.run(second))
            await asyncio.sleep(60)
            assert not second.began.is_set()
            old.cancel()
            await second.began.wait()
            assert clock.monotonic() <= 63
            assert second.terms[0].epoch == 1
            new.cancel()
        assert store.held_by.index("") == store.held_by.index("b") - 1

    in_no_time(scene)


def test_after_a_crash_the_next_waits_for_the_end_and_for_the_last_write() -> None:
    async def scene(clock: LoopClock) -> None:
        crashed = LeaseRecord(
            holder="a", duration_s=15, acquired=0, renewed=0, transitions=4, version="0"
        )
        store, leader = MemoryStore(crashed), Leader(clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(lease(store, B, clock).run(leader))
            await leader.began.wait()
            running.cancel()
        assert 25 <= clock.monotonic() <= 28, "15 s of the lease, 10 s of a write"
        assert leader.terms == [LeaseTerm("b", 5)]

    in_no_time(scene)


def test_a_leader_that_cannot_renew_stops_before_others_may_start() -> None:
    async def scene(clock: LoopClock) -> None:
        store, first, second = MemoryStore(), Leader(clock), Leader(clock)
        mine, other = lease(store, A, clock), lease(store, B, clock)
        async with asyncio.TaskGroup() as group:
            old = group.create_task(mine.run(first))
            await first.began.wait()
            new = group.create_task(other.run(second))
            await asyncio.sleep(9)

            async def cut_off(what: str) -> None:
                if what == "a":
                    await asyncio.Event().wait()

            store.fault = cut_off
            await first.ended.wait()
            stopped = clock.monotonic()
            assert stopped <= 9 + A.renew_deadline_s
            assert not mine.fence.valid_for_longer_than(0.0)
            await second.began.wait()
            assert clock.monotonic() >= stopped + 5
            old.cancel()
            new.cancel()

    in_no_time(scene)


def test_the_fence_closes_by_our_own_clock() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)
        mine = lease(store, A, clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(mine.run(leader))
            await leader.began.wait()
            await asyncio.sleep(1)
            assert mine.fence.valid_for_longer_than(13.9)
            assert not mine.fence.valid_for_longer_than(14.0)
            running.cancel()

    in_no_time(scene)


def test_a_few_failed_renewals_do_no_harm() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(lease(store, A, clock).run(leader))
            await leader.began.wait()
            calls = 0

            async def mostly_away(_: str) -> None:
                nonlocal calls
                calls += 1
                if calls % 3:
                    raise UnavailableError("away")

            store.fault = mostly_away
            await asyncio.sleep(600)
            running.cancel()
        assert leader.log[0] == "begin@0"
        assert len(leader.log) == 2, "led without a break"

    in_no_time(scene)


def test_why_the_lease_cannot_be_had_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)

        async def nowhere(what: str) -> None:
            if what == "a":
                raise NotFoundError('namespaces "kueue-system" not found')

        store.fault = nowhere
        async with asyncio.TaskGroup() as group:
            running = group.create_task(lease(store, A, clock).run(leader))
            await asyncio.sleep(60)
            assert not leader.began.is_set()
            store.fault = None
            await leader.began.wait()
            running.cancel()

    in_no_time(scene)
    told = [one.message for one in caplog.records if "cannot be had" in one.message]
    assert told == ['the lease cannot be had, trying again: namespaces "kueue-system" not found']


def test_a_renewal_whose_reply_was_lost_is_recognised() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(lease(store, A, clock).run(leader))
            await leader.began.wait()

            async def lose_the_reply() -> None:
                store.after_write = None
                raise LostError("no reply")

            store.after_write = lose_the_reply
            await asyncio.sleep(60)
            running.cancel()
        assert len(leader.log) == 2
        assert store.record is not None
        assert store.record.holder == "", "and it could be released"

    in_no_time(scene)


def test_a_lease_won_without_knowing_is_led_only_after_the_grace() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)

        async def lose_the_reply() -> None:
            store.after_write = None
            raise LostError("no reply")

        store.after_write = lose_the_reply
        async with asyncio.TaskGroup() as group:
            running = group.create_task(lease(store, A, clock).run(leader))
            await leader.began.wait()
            running.cancel()
        assert clock.monotonic() >= A.write_timeout_s
        assert leader.terms == [LeaseTerm("a", 0)]

    in_no_time(scene)


def test_a_lease_taken_by_another_ends_the_leadership_at_once() -> None:
    async def scene(clock: LoopClock) -> None:
        store, leader = MemoryStore(), Leader(clock)
        mine = lease(store, A, clock)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(mine.run(leader))
            await leader.began.wait()
            assert store.record is not None
            store.record = replace(store.record, holder="kueue", renewed=1.0, version="x")
            await leader.ended.wait()
            assert clock.monotonic() < 2.001
            assert mine.holder == "kueue"
            running.cancel()
        assert store.record.holder == "kueue", "what is not ours is not released"

    in_no_time(scene)


def test_a_leader_that_is_told_to_go_keeps_the_lease_until_it_is_done() -> None:
    async def scene(clock: LoopClock) -> None:
        store, began = MemoryStore(), asyncio.Event()
        mine = lease(store, A, clock)
        valid: list[bool] = []

        async def slow_to_go(_: LeaseTerm) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(60)
                valid.append(mine.fence.valid_for_longer_than(10.0))

        async with asyncio.TaskGroup() as group:
            running = group.create_task(mine.run(slow_to_go))
            await began.wait()
            running.cancel()
        assert valid == [True]
        assert store.held_by[-1] == ""

    in_no_time(scene)


def test_work_that_ends_by_itself_ends_the_run() -> None:
    async def scene(clock: LoopClock) -> None:
        store = MemoryStore()

        async def brief(_: LeaseTerm) -> None:
            await asyncio.sleep(5)

        await lease(store, A, clock).run(brief)
        assert store.record is not None
        assert store.record.holder == ""

    in_no_time(scene)


def test_a_failure_of_the_leader_releases_and_is_raised() -> None:
    async def scene(clock: LoopClock) -> None:
        store = MemoryStore()

        async def broken(_: LeaseTerm) -> None:
            raise ZeroDivisionError

        with pytest.raises(ExceptionGroup) as caught:
            await lease(store, A, clock).run(broken)
        assert caught.group_contains(ZeroDivisionError)
        assert store.held_by == ["a", ""]

    in_no_time(scene)


@pytest.mark.parametrize(
    "times",
    [
        pytest.param({"renew_deadline_s": 15.0}, id="renewing must end before the lease does"),
        pytest.param({"retry_s": 9.0}, id="there must be time for a second try"),
        pytest.param({"write_timeout_s": 15.0}, id="a write must fit into the lease"),
    ],
)
def test_times_that_cannot_be_safe_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="leader election"):
        LeaseSettings(identity="a", **times)


def stored(version: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "l", "resourceVersion": version}, "spec": spec}


async def test_the_record_is_a_lease_on_the_wire(server: Any, client: Client) -> None:
    held = stored("2", holderIdentity="a", leaseDurationSeconds=15, leaseTransitions=3)
    held["spec"]["renewTime"] = "2026-11-22T01:02:03.500000Z"
    server.script = [
        server.refuse(404),
        server.reply(201, stored("1")),
        server.reply(200, held),
        server.refuse(409, "Conflict"),
    ]
    store = KubeLeaseStore(client, "l", "ns")
    assert await store.read(5.0) is None
    wanted = LeaseRecord(
        holder="a", duration_s=15, acquired=1.5, renewed=2.5, transitions=0, version=""
    )
    created = await store.write(wanted, 5.0)
    assert (created.version, created.holder) == ("1", "")
    body = json.loads(server.seen[1].body)
    assert body["spec"]["renewTime"] == "1970-01-01T00:00:02.500000Z"
    assert body["metadata"] == {"name": "l", "namespace": "ns"}
    found = await store.read(5.0)
    assert found is not None
    assert (found.holder, found.transitions, found.renewed) == ("a", 3, 1795309323.5)
    with pytest.raises(ConflictError):
        await store.write(found, 5.0)
    assert json.loads(server.seen[3].body)["metadata"] == {"resourceVersion": "2"}
