"""Runs the engine on a set of facts, round after round, at one moment in time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Admit, Decision, Place, Preempt, Strand, Wait
from queueing.core.facts import Fact
from queueing.core.names import CohortName, Key, QueueName
from queueing.core.settings import Compatibility, Settings
from queueing.reports import queues as reports
from queueing.sim.lending import QuotaBalances, balance
from queueing.sim.standing import Standing
from queueing.sim.world import SimulatedCluster

STABLE_ROUNDS_MAX = 1_000
"""Rounds after which a plan that never settles is given up, and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Decisions per round, and the quota held after the last of them."""

    rounds: tuple[tuple[Decision, ...], ...]
    ledger: QuotaBalances
    queue_shares: Mapping[str, int]
    cohort_shares: Mapping[str, int]
    stable: bool | None
    """Whether nothing more would change; None when a number of rounds was asked for."""
    explicit_reasons: bool = True
    """Whether `QuotaReserved=False` has a specific reason instead of `Pending`."""


def fixed_rounds(
    facts: Iterable[Fact | CreditFact], *, settings: Settings, now: float, rounds: int
) -> Plan:
    """Run a number of rounds. Admissions are assumed; victims are Evicted and keep their quota."""
    world = SimulatedCluster(facts, settings=settings)
    done = tuple(world.round(now).decisions for _ in range(rounds))
    return _plan(world, done, stable=None)


def until_stable(facts: Iterable[Fact | CreditFact], *, settings: Settings, now: float) -> Plan:
    """Run rounds until nothing changes; between them victims release quota and are requeued."""
    world = SimulatedCluster(facts, settings=settings)
    kueue = settings.compatibility is Compatibility.KUEUE
    done: list[tuple[Decision, ...]] = []
    stable = _by_rounds(world, done, now) if kueue else _by_cycles(world, done, now)
    return _plan(world, done, stable=stable)


LAPS_MAX = 3
"""How often the same round may occur in the same state until the plan is given up as endless."""


class _Laps:
    """Counts how often the same decisions were made while the same workloads held quota."""

    def __init__(self, world: SimulatedCluster) -> None:
        self._world = world
        self._seen: dict[tuple[object, ...], int] = {}

    def full(self, decisions: Iterable[Decision]) -> bool:
        """Note a round that admitted or preempted; say whether it has occurred `LAPS_MAX` times."""
        held = (key for key, fact in self._world.workloads.items() if fact.holds_quota)
        key = (*(_spelled(one) for one in decisions), *sorted(held))
        self._seen[key] = self._seen.get(key, 0) + 1
        return self._seen[key] >= LAPS_MAX


def _spelled(decision: Decision) -> tuple[object, ...]:
    match decision:
        case Admit():
            flavors = (tuple(sorted(one.flavors.items())) for one in decision.pod_sets)
            return decision.workload, *flavors
        case Preempt():
            return decision.workload, decision.preemptor
        case Wait():
            return decision.workload, decision.requeue, decision.mode, decision.message
        case Place():
            return decision.workload, *decision.left, *(one.placement for one in decision.pod_sets)
        case Strand():
            return decision.workload, decision.evicts, decision.message


def _by_rounds(world: SimulatedCluster, done: list[tuple[Decision, ...]], now: float) -> bool:
    """Run single rounds, as Kueue does; say whether they settled.

    A round that admits and preempts nobody may still move a queue on to its next head, or a head
    to its next flavor. So the end is reached when such a round repeats an earlier one. Workloads
    that preempt each other in turn never settle, and are left when they go round in circles.
    """
    seen: set[tuple[object, ...]] = set()
    laps = _Laps(world)
    drained: tuple[Key, ...] = ()
    while len(done) < STABLE_ROUNDS_MAX:
        cycle = world.round(now)
        decisions = cycle.decisions
        moves = _moves(decisions)
        if drained or moves:
            seen.clear()
        elif _gist(decisions) in seen:
            return True
        elif cycle.finished and not cycle.judged:
            told = set(map(_spelled, done[-1])) if done else set()
            if not done or not told.issuperset(map(_spelled, decisions)):
                done.append(decisions)  # a head that must not be judged is told all the same
            drained = world.drain(now)
            if not drained:
                return True
            continue
        done.append(decisions)
        if not moves:
            seen.add(_gist(decisions))
        elif laps.full(decisions):
            return False
        drained = world.drain(now)
    return False


def _by_cycles(world: SimulatedCluster, done: list[tuple[Decision, ...]], now: float) -> bool:
    """Run cycles, as the controller does, each until nobody is left to try; say if they settled.

    The engine tells of those that it judged; the others are added to each round as they stand.
    Rounds that move nobody only go on to further heads, so they are told as one with the next; one
    that says the same as the one before is not told.
    """
    drained: tuple[Key, ...] = ()
    for _ in range(STABLE_ROUNDS_MAX):
        standing = Standing(world)
        cycle = world.cycle(now)
        *before, last = list(_joined(cycle.rounds)) or [()]
        rounds = [standing.complete(decided) for decided in before]
        standing.catch_up()
        rounds.append(standing.complete(last))
        if not _moves(cycle.decisions) and not drained and done:
            return True
        for decided in rounds:
            if not done or set(map(_spelled, decided)) != set(map(_spelled, done[-1])):
                done.append(decided)
        drained = world.drain(now)
        if not _moves(cycle.decisions) and not drained:
            return True
        if len(done) >= STABLE_ROUNDS_MAX:
            break
    return False


def _joined(rounds: Iterable[tuple[Decision, ...]]) -> Iterator[tuple[Decision, ...]]:
    """Join each round that moves somebody with those before it that moved nobody.

    To preempt again who is on the way out already moves nobody.
    """
    told: list[Decision] = []
    for decided in rounds:
        again = {one.workload for one in decided if not isinstance(one, Preempt)}
        told = [one for one in told if _judged(one) not in again] + list(decided)
        if any(_is_new(one) for one in decided):
            yield tuple(told)
            told = []
    if told:
        yield tuple(told)


def _judged(decision: Decision) -> Key:
    """Return who was judged when something was decided."""
    return decision.preemptor if isinstance(decision, Preempt) else decision.workload


def _is_new(decision: Decision) -> bool:
    return isinstance(decision, Admit | Place) or (
        isinstance(decision, Preempt) and not decision.already_evicted
    )


def _moves(decisions: Iterable[Decision]) -> bool:
    return any(
        one.evicts if isinstance(one, Strand) else not isinstance(one, Wait) for one in decisions
    )


def _gist(decisions: Iterable[Decision]) -> tuple[object, ...]:
    """Return what makes two rounds without a move equal."""
    waits = (one for one in decisions if isinstance(one, Wait))
    return tuple((one.workload, one.requeue, one.reason, one.mode, one.message) for one in waits)


def _plan(
    world: SimulatedCluster, rounds: Sequence[tuple[Decision, ...]], *, stable: bool | None
) -> Plan:
    engine = world.engine
    ledger = balance(world.queues.values(), world.cohorts.values(), usage=world.usage())
    queue_shares, cohort_shares = dict(ledger.queue_shares), dict(ledger.cohort_shares)
    if world.is_fair:  # credits may bend weights, of which only the engine knows
        memory = engine.memory
        queues = {name: reports.cluster_queue(memory, QueueName(name)) for name in queue_shares}
        cohorts = {name: reports.cohort(memory, CohortName(name)) for name in cohort_shares}
        queue_shares = {name: view.weighted_share for name, view in queues.items() if view}
        cohort_shares = {name: view.weighted_share for name, view in cohorts.items() if view}
    return Plan(
        rounds=tuple(rounds),
        ledger=ledger,
        queue_shares=queue_shares,
        cohort_shares=cohort_shares,
        stable=stable,
        explicit_reasons=world.explicit_reasons,
    )
