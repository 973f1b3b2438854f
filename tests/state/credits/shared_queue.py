"""A queue that namespaces share under a credit policy, and what its ledger says."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditAccountFact,
    CreditPolicyFact,
)
from queueing.core.facts import Condition, Fact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.members import CORE_PRICES

START = 1_000_000.0
TEAMS = ("a", "b", "c")


def policy(**fields: Any) -> CreditPolicyFact:
    """Terms under which balances do not shrink, unless a test says so."""
    terms = CreditPolicyFact(
        name="default", prices=CORE_PRICES, half_life_s=10**9, orders_local_queues=True
    )
    return replace(terms, **fields)


def door(team: str, queue: str = "q", *, name: str = "main", weight: int = 1) -> Fact:
    return replace(local_queue(f"{team}/{name}", queue), fair_weight=Fraction(weight))


def queue(name: str = "q", cores: int = 9, **fields: Any) -> Fact:
    fields.setdefault("admission_fair_sharing", True)
    return cluster_queue(name, {"default": {"cpu": cores * 1000}}, **fields)


def objects(*teams: str) -> list[Fact]:
    return [
        flavor(),
        *(namespace(team) for team in TEAMS),
        queue(),
        *(door(team) for team in teams or TEAMS),
    ]


def world(
    *facts: Fact,
    terms: CreditPolicyFact | None = None,
    settings: Settings | None = None,
    now: float = START,
) -> SimulatedCluster:
    made = SimulatedCluster((), settings=settings or Settings())
    for one in facts or objects():
        made.observe(one)
    made.engine.observe(terms or policy())
    made.cycle(now)
    return made


def run(made: SimulatedCluster, name: str, cores: int, *, at: float, **more: Any) -> None:
    """Submit a workload of the namespace that its name begins with."""
    more.setdefault("local_queue", f"{name[0]}/main")
    created = more.pop("created", at)
    made.observe(workload(f"{name[0]}/{name}", {"cpu": cores * 1000}, created=created, **more))
    made.cycle(at)
    check_invariants(made.engine)


def end(made: SimulatedCluster, name: str, at: float) -> None:
    fact = made.workloads[Key(f"{name[0]}/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def runs(made: SimulatedCluster) -> set[str]:
    """Return who holds quota."""
    return {str(key).partition("/")[2] for key, one in made.workloads.items() if one.holds_quota}


def account(made: SimulatedCluster, name: str = "q") -> CreditAccountFact:
    return next(one for one in made.engine.credits.accounts() if one.queue == name)


def balances(made: SimulatedCluster, at: float, name: str = "q") -> dict[str, float]:
    made.cycle(at)
    check_invariants(made.engine)
    found = account(made, name)
    assert sum(one.balance for one in found.children) + sum(found.sinks.values()) == 0
    return {one.member.name: round(one.balance / PART / MICRO, 2) for one in found.children}


# What balances do -------------------------------------------------------------------------------


def lent_by_b(**more: Any) -> SimulatedCluster:
    """Make a queue that `a` filled for two hours while `b` left its part to it."""
    made = world(*objects("a", "b"), **more)
    run(made, "a0", 9, at=START)
    return made
