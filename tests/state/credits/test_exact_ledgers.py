"""The ledgers of a tree against a sum over seconds: what statuses, quotas and grants tell of."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditFact,
    CreditGrantFact,
    Member,
)
from queueing.core.credits.group import WEIGHT_UNIT
from queueing.core.facts import Condition, Fact
from queueing.core.names import Key, Uid
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
)
from tests.state.members import LASTING

START, LENGTH_S = 1_000_000, 300
SETTINGS = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
PARENTS = {"a": "all", "b": "all", "c": "low", "d": "low"}
POOL = 3


@dataclass(frozen=True, slots=True)
class Stay:
    """Cores of a queue that somebody holds from a second to another."""

    queue: str
    cores: int
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class History:
    """What happens, in seconds from the start."""

    stays: tuple[Stay, ...]
    raises: tuple[tuple[int, str, int], ...]
    """From when on which queue has how many cores."""
    grants: tuple[tuple[int, str, int], ...]
    """When which queue gets how many credits."""

    def quotas(self, second: int) -> dict[str, int]:
        """Return the nominal quotas that hold in a second."""
        found = dict.fromkeys(PARENTS, 2)
        return found | {queue: cores for at, queue, cores in self.raises if at <= second}


def some_history(chance: Random) -> History:
    stays = []
    for _ in range(25):
        since = chance.randrange(LENGTH_S)
        until = min(LENGTH_S, since + chance.choice((0, 1, 3, 40, 150)))
        stays.append(Stay(chance.choice("abcd"), chance.randint(1, 5), since, until))
    times = sorted(chance.sample(range(1, LENGTH_S), 4))
    raises = [(at, chance.choice("abcd"), 3 + place) for place, at in enumerate(times)]
    grants = [(chance.randrange(LENGTH_S), chance.choice("abcd"), 7) for _ in range(3)]
    return History(tuple(stays), tuple(raises), tuple(grants))


def summed(history: History) -> dict[str, int]:
    """Add up second by second, as the formulas say, what everybody has in the end."""
    balances = dict.fromkeys((*PARENTS, "low"), 0)
    for second in range(LENGTH_S):
        quotas, used = history.quotas(second), dict.fromkeys(PARENTS, 0)
        for stay in history.stays:
            if stay.since <= second < stay.until:
                used[stay.queue] += stay.cores
        for table in (quotas, used):
            table["low"] = table["c"] + table["d"]
        for children, pool in ((("a", "b", "low"), POOL), (("c", "d"), 0)):
            idle = {one: MICRO * max(0, quotas[one] - used[one]) for one in children}
            borrowed = {one: MICRO * max(0, used[one] - quotas[one]) for one in children}
            lent = min(sum(idle.values()), sum(borrowed.values()))
            pooled = min(MICRO * pool, sum(borrowed.values()) - lent)
            for one in children:
                balances[one] -= PART * borrowed[one]
                if lent:
                    balances[one] += idle[one] * (PART * lent // sum(idle.values()))
                part = PART * pooled // (WEIGHT_UNIT * len(children))
                balances[one] += WEIGHT_UNIT * part
    for _, queue, credit in history.grants:
        balances[queue] += PART * MICRO * credit
    return balances


def queue(name: str, cores: int) -> Fact:
    return cluster_queue(name, {"default": {"cpu": cores * 1000}}, cohort=PARENTS[name])


def objects(quotas: dict[str, int]) -> Iterable[Fact]:
    yield from (flavor(), namespace())
    yield cohort("all", quotas={"default": {"cpu": POOL * 1000}})
    yield cohort("low", parent="all")
    for name, cores in quotas.items():
        yield queue(name, cores)
        yield local_queue(f"team/{name}", name)


def credit_facts(history: History, second: int) -> Iterable[CreditFact]:
    yield LASTING
    for number, (at, name, credit) in enumerate(history.grants):
        if at <= second:
            yield CreditGrantFact(
                name=f"g{number}",
                uid=Uid(f"g{number}"),
                receiver=Member("ClusterQueue", name),
                amount=credit * MICRO,
                at=START + at,
            )


def lived(history: History, looks: set[int], restart_at: int) -> SimulatedCluster:
    """Let it happen to an engine that looks at these seconds only, and when quotas change."""
    made = SimulatedCluster(objects(history.quotas(0)), settings=SETTINGS)
    made.engine.observe(LASTING)
    made.cycle(float(START))
    for second in range(LENGTH_S + 1):
        now = float(START + second)
        for number, one in enumerate(history.stays):
            if one.since == second:
                usage = {"cpu": one.cores * 1000}
                door = f"team/{one.queue}"
                fact = admitted(f"w{number}", usage, queue=one.queue, local_queue=door, created=now)
                made.observe(fact)
            if one.until == second:
                known = made.workloads[Key(f"team/w{number}")]
                done = Condition(type="Finished", status=True, reason="Done", changed=now)
                made.observe(replace(known, conditions={**known.conditions, "Finished": done}))
        for credit in credit_facts(history, second):
            made.engine.observe(credit)
        changed = [name for at, name, _ in history.raises if at == second]
        for name in changed:
            made.observe(queue(name, history.quotas(second)[name]))
        if changed or second in looks or second in {restart_at, LENGTH_S}:
            made.cycle(now)
        if second == restart_at:
            made = restarted(made, history, second)
            made.cycle(now)
    return made


def restarted(made: SimulatedCluster, history: History, second: int) -> SimulatedCluster:
    """Start a process that knows what objects say, and the accounts as they are now."""
    facts = [*objects(history.quotas(second)), *made.workloads.values()]
    anew = SimulatedCluster(facts, settings=SETTINGS)
    for one in (*made.engine.credits.accounts(), *credit_facts(history, second)):
        anew.engine.observe(one)
    return anew


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("looks", [set(range(LENGTH_S)), {7, 100}], ids=["often", "seldom"])
def test_the_ledgers_of_a_tree_equal_a_sum_over_seconds(seed: int, looks: set[int]) -> None:
    chance = Random(seed)
    history = some_history(chance)
    made = lived(history, looks, restart_at=chance.randrange(1, LENGTH_S))
    accounts = made.engine.credits.accounts()
    found = {one.member.name: one.balance for each in accounts for one in each.children}
    assert found == summed(history)
    for one in accounts:
        assert sum(child.balance for child in one.children) + sum(one.sinks.values()) == 0
