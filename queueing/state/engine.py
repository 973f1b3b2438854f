"""The engine: facts in, decisions out. It awaits nothing and reads no clock.

Called in `controller` by `intake.pump` (`observe`, at each watch event), by `decisions.cycles`
(`cycle`, when a fact changed or the time came that the last one asked for) and by
`decisions.effects` (`settle`, when a write has ended); in plans by `sim.world`.

The path of one decision: `observe` (`intake`) puts a workload in its queue, `cycle` (`scheduler`)
judges the heads and assumes what it decided, `settle` (`outcomes`) takes in how the write ended,
and the next `observe` of the workload replaces the assumption by a fact.
"""

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Cycle, Outcome, Preempt, Verdict, Wait, Written
from queueing.core.facts import Fact, Gone, Kind, WorkloadFact
from queueing.core.names import Key
from queueing.core.rounds import Pause
from queueing.core.settings import Settings
from queueing.state.answers.excess import exceeds, is_due, is_needed
from queueing.state.answers.waits import settled_wait, wait_of
from queueing.state.credits.records import Records
from queueing.state.intake.outcomes import take_outcome
from queueing.state.intake.surroundings import drop_object, put_object
from queueing.state.intake.workloads import forget_workload, observe_workload
from queueing.state.memory.memory import Changed, Memory
from queueing.state.scheduler.schedule import Steps, run_round, schedule, sweep

_waiting = attrgetter("waiting")


class Engine:
    """The only entry to `queueing.state`: takes in facts and returns decisions.

    Facts of one object must come in the order in which the API server made them. While the outcome
    of a write is unknown, the next fact of its workload is taken as the answer: pass one that was
    read with quorum, and no older one of the watch before it.
    """

    __slots__ = ("_inbox", "_memory", "_pause", "_steps", "credits")

    def __init__(self, settings: Settings | None = None) -> None:
        self._memory = Memory.empty(settings or Settings())
        self.credits: Records = self._memory.credits.records
        """What is to be stored of credits, and what the stored objects include."""
        self._steps: Steps | None = None
        """The cycle that paused within a round; None if none did."""
        self._pause: Pause | None = None
        """What the latest call of `cycle` gave."""
        self._inbox: list[Callable[[], object]] = []
        """What came while a round paused: it is taken in when the round has ended."""

    def observe(self, fact: Fact | CreditFact) -> bool:
        """Take in an observed fact; say whether a cycle has to be run because of it.

        A fact that equals the known one changes nothing. That of a workload may be news, and still
        ask for no cycle: one in which nobody waits decides nothing.
        """
        if self._steps is not None:
            self._inbox.append(partial(Engine.observe, self, fact))  # who records has heard of it
            return True
        credit = self._memory.credits
        match fact:
            case WorkloadFact():
                is_news = observe_workload(self._memory, fact)
                if credit.any:
                    credit.note(fact.key, fact)
                return is_news and self._has_to_decide()
            case Gone(kind=Kind.WORKLOAD, name=name):
                forget_workload(self._memory, Key(name))
                if credit.any:
                    credit.note(Key(name), None)
                return self._has_to_decide()
            case Gone():
                drop_object(self._memory, fact)
            case _ if isinstance(fact, CreditFact):
                credit.observe(fact)
            case _:
                put_object(self._memory, fact)
        return True

    def settle(self, outcome: Outcome) -> None:
        """Take in how the write of a decision ended.

        If it was refused, the decision is taken back and the workload is judged again, after a
        growing delay if that repeats. If it was done, or its outcome is unknown, the decision stays
        assumed until the next fact of the workload.
        """
        if outcome.verdict is Verdict.DONE:
            return
        if self._steps is None:
            take_outcome(self._memory, outcome)
        else:
            self._inbox.append(partial(take_outcome, self._memory, outcome))

    def stands_by(self, decision: Written) -> bool:
        """Say whether a decision was neither dropped nor decided anew since it was made.

        An eviction is also dropped when nobody was promised what the victim would give back.
        """
        if isinstance(decision, Preempt):
            return is_due(self._memory, decision)
        return self._memory.stands_by(decision)

    def is_assumed(self, workload: Key) -> bool:
        """Say whether a workload holds quota of which no fact tells yet."""
        charge = self._memory.ledger.charges.get(workload)
        return charge is not None and charge.decision is not None

    def cycle(self, now: float, budget: int | None = None, pause: Pause | None = None) -> Cycle:
        """Run a cycle: decide all that can be decided now, or until `budget` heads were judged.

        What is admitted or preempted is assumed from here on. `pause` is asked after each head
        whether the caller wants to do something else. Then an unfinished cycle is returned, and the
        next call goes on with it; facts and outcomes that come meanwhile wait until the round has
        ended, so that pausing changes no decision of it.
        """
        self._pause = pause
        if self._steps is None:
            self._steps = schedule(self._memory, now, budget, pause and self._shall_pause)
        try:
            next(self._steps)
        except StopIteration as end:
            self._steps = None
            found: Cycle = end.value
        else:
            return Cycle(
                number=self._memory.cycles,
                now=self._memory.clock,
                rounds=(),
                judged=0,
                finished=False,
                wake_at=None,
            )
        inbox, self._inbox = self._inbox, []
        for take in inbox:
            take()
        return found

    def round(self, now: float) -> Cycle:
        """Run one round, exactly one Kueue cycle; every pending workload gets one decision."""
        return run_round(self._memory, now)

    def sweep(self, most: int) -> int:
        """Let the next cycle judge some who wait longest once more; return how many it will be.

        To be called when there is nothing else to do, so that a change which was not seen to help
        somebody costs him a little time only.
        """
        return 0 if self._steps is not None else sweep(self._memory, most)

    @property
    def memory(self) -> Memory:
        """What is remembered, for `queueing.reports` and `explain`, which leave it as it is."""
        return self._memory

    @property
    def queues_to_judge(self) -> int:
        """How many queues have workloads to be judged; 0 while any was judged and got nothing.

        In Kueue mode always 0: there all who wait are judged again after any event.
        """
        memory = self._memory
        if not memory.settings.rules.waits_for_lacks or any(map(_waiting, memory.queues.values())):
            return 0
        return len(memory.ready)

    @property
    def is_within_round(self) -> bool:
        """Whether a round is being decided: quota that it has given is in no answer yet."""
        return self._steps is not None

    def _shall_pause(self) -> bool:
        return self._pause is not None and self._pause()

    def _has_to_decide(self) -> bool:
        """Say whether somebody waits, or whether cycles keep something that depends on time."""
        memory = self._memory
        waits = memory.items or memory.aside.held or memory.places.passes or memory.places.unsettled
        return bool(waits) or memory.credits.any or memory.ledger.turns is not None

    def waiting(self, workload: Key) -> Wait | None:
        """Return why a workload waits; None if it does not, or is unknown."""
        return wait_of(self._memory, workload)

    def settled(self, workload: Key) -> Wait | None:
        """Return why a parked or held workload waits; None if its turn may come at any time."""
        return settled_wait(self._memory, workload)

    def pending_keys(self) -> list[Key]:
        """Return the keys of all pending and held workloads, in no defined order."""
        return [*self._memory.items, *self._memory.aside.held]

    def is_claimed(self, victim: Key) -> bool:
        """Say whether what an evicted workload will give back was promised to others."""
        return is_needed(self._memory, victim)

    def exceeds(self, workload: Key, aside: Iterable[Key] = ()) -> bool:
        """Say whether a workload holds more than it would get without those `aside`."""
        return exceeds(self._memory, workload, aside)

    def changed(self) -> Changed:
        """Return the names of objects whose views may have changed since the last call."""
        return self._memory.touched.take(self._memory.tree)
