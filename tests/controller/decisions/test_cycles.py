import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from queueing.controller.decisions.cycles import Cycles
from queueing.core.decisions import Admit, Cycle, Outcome, Verdict, Wait
from queueing.core.facts import Condition, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.kube.writer import DECISIONS_LEAST, LIMITS, QUEUES_EACH, WriteClass
from queueing.sim import transitions
from queueing.state.engine import Engine
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    pod_set,
    workload,
)
from queueing.testing.virtual_time import LoopClock, in_no_time

NOMINAL, LARGE = 24, 20


@dataclass
class Scene:
    """A queue, workloads that end as soon as they are admitted, and who writes one by one."""

    most: int
    """Decisions that may be under way."""
    queues: int = 1
    known: dict[Key, WorkloadFact] = field(default_factory=dict)
    limit: int = 0
    under_way: deque[Admit] = field(default_factory=deque)
    admitted: list[Key] = field(default_factory=list)
    refusals: list[Key] = field(default_factory=list)
    """Who was judged and waits, once for each time."""
    limits: list[int] = field(default_factory=list)
    """How many may be written at a time, as was said last before each cycle was carried out."""

    def __post_init__(self) -> None:
        self.engine = Engine(Settings())
        quotas = {"default": {"cpu": NOMINAL}}
        self.engine.observe(namespace("team"))
        self.engine.observe(flavor("default"))
        for name in ("main", *map(str, range(1, self.queues))):
            self.engine.observe(cluster_queue(name, quotas))
            self.engine.observe(local_queue(f"team/{name}", name))
        self.cycles = Cycles(self.engine, self._carry_out, LoopClock(), budget=256, room=self._room)

    def _room(self, limit: int) -> int:
        self.limit = limit
        return max(0, self.most - len(self.under_way))

    def _carry_out(self, cycle: Cycle, _took_s: float) -> None:
        self.limits.append(self.limit)
        self.under_way += [one for one in cycle.decisions if isinstance(one, Admit)]
        self.refusals += [one.workload for one in cycle.decisions if isinstance(one, Wait)]

    def submit(self, *sizes: int, queue: str = "main") -> None:
        for size in sizes:
            number = len(self.known)
            made = workload(
                f"team/{number:03}",
                pod_sets=(pod_set({"cpu": size}),),
                created=float(number),
                local_queue=f"team/{queue}",
            )
            self.known[made.key] = made
            self.engine.observe(made)
        self.cycles.wanted.set()

    def write(self) -> None:
        """Write what was decided first; it ends at once."""
        decision = self.under_way.popleft()
        fact = transitions.admitted(self.known[decision.workload], decision, now=0.0)
        self.engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
        self.engine.observe(fact)
        self.admitted.append(fact.key)
        ended = Condition(type="Finished", status=True, reason="Succeeded", changed=0.0)
        self.engine.observe(replace(fact, conditions={**fact.conditions, "Finished": ended}))
        self.cycles.wanted.set()

    async def decided(self) -> int:
        """Return how many decisions are under way once it is quiet."""
        await asyncio.sleep(0.05)
        return len(self.under_way)


def played(most: int, play: Callable[[Scene], Awaitable[None]], *, queues: int = 1) -> Scene:
    """Play a scene while cycles run, in virtual time."""
    made = Scene(most, queues)

    async def whole(_: LoopClock) -> None:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            running = group.create_task(made.cycles.run())
            await play(made)
            running.cancel()

    in_no_time(whole)
    return made


def test_no_more_is_decided_at_once_than_there_is_room_for() -> None:
    async def play(this: Scene) -> None:
        this.submit(*[1] * 12)
        assert await this.decided() == 4
        this.under_way.clear()
        this.cycles.go_on()
        assert await this.decided() == 4, "the end of a write is heard"

    played(4, play)


def test_without_room_there_is_still_a_cycle_now_and_then() -> None:
    async def play(this: Scene) -> None:
        this.submit(1, 1)
        while not this.under_way:
            await asyncio.sleep(0.05)

    assert len(played(0, play).under_way) == 1


def test_who_needs_much_is_not_kept_out_by_decisions_that_wait_to_be_written() -> None:
    async def play(this: Scene) -> None:
        this.submit(*[1] * 10, LARGE, *[1] * 40)
        while len(this.admitted) < len(this.known):
            await this.decided()
            while this.under_way:
                this.write()

    this = played(2, play)
    place = this.admitted.index(Key("team/010"))
    assert place < 10 + this.most + 1, "its turn came when it was the oldest"


def test_many_queues_have_many_decisions_written_at_a_time_until_somebody_waits() -> None:
    many = QUEUES_EACH * LIMITS[WriteClass.ADMISSION]

    async def play(this: Scene) -> None:
        for name in range(1, this.queues):
            this.submit(1, queue=str(name))
        this.submit(NOMINAL + 1)
        while not this.refusals:
            await this.decided()
            this.under_way.clear()
            this.cycles.go_on()

    told = played(4, play, queues=many + 5).limits
    assert told[0] == LIMITS[WriteClass.ADMISSION], "from the same cycle on"
    assert told[-1] == DECISIONS_LEAST


def test_who_waits_is_judged_again_now_and_then_while_nothing_happens() -> None:
    async def play(this: Scene) -> None:
        this.submit(NOMINAL + 1)
        while len(this.refusals) < 3:
            await asyncio.sleep(0.05)

    assert set(played(4, play).refusals) == {Key("team/000")}
