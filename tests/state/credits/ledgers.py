"""A cohort of two queues under a credit policy, and what its ledger says."""

from dataclasses import replace
from typing import Any

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditAccountFact,
    CreditPolicyFact,
    Member,
)
from queueing.core.credits.prices import Prices
from queueing.core.facts import Condition, Fact, PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, ResourceName
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    preemption,
    quota,
    workload,
)

CPU = ResourceName("cpu")
PRICES = Prices({(None, CPU): MICRO})
A, B = Member("ClusterQueue", "a"), Member("ClusterQueue", "b")
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
SETTINGS = Settings(fair_sharing=FAIR)
ANY = preemption(reclaim=PreemptionPolicy.ANY)
START = 1_000_000.0


def policy(**fields: Any) -> CreditPolicyFact:
    """Terms under which balances do not shrink, unless a test says so."""
    terms = CreditPolicyFact(name="default", prices=PRICES, half_life_s=10**9)
    return replace(terms, **fields)


def two_queues(nominal: int = 4000, pool: int = 0) -> list[Fact]:
    """Two queues of one cohort, each with a door of its own name."""
    found: list[Fact] = [
        cohort("all", quotas={"default": {"cpu": pool}} if pool else ()),
        flavor(),
        namespace(),
    ]
    for name in "ab":
        quotas = {"default": {"cpu": quota(nominal)}}
        found.append(cluster_queue(name, quotas, cohort="all", preemption=ANY))
        found.append(local_queue(f"team/{name}", name))
    return found


def world(
    *facts: Fact, terms: CreditPolicyFact | None = None, settings: Settings = SETTINGS
) -> SimulatedCluster:
    made = SimulatedCluster((), settings=settings)
    for one in facts or two_queues():
        made.observe(one)
    if terms is not None:
        made.engine.observe(terms)
    made.cycle(START)
    return made


def submit(
    made: SimulatedCluster, name: str, queue: str, cores: int, *, now: float
) -> WorkloadFact:
    fact = workload(name, {"cpu": cores * 1000}, local_queue=f"team/{queue}", created=now)
    made.observe(fact)
    made.cycle(now)
    return made.workloads[fact.key]


def finish(made: SimulatedCluster, key: str, now: float) -> None:
    fact = made.workloads[Key(key)]
    conditions = {
        **fact.conditions,
        "Finished": Condition(type="Finished", status=True, reason="Succeeded", changed=now),
    }
    made.observe(replace(fact, conditions=conditions))


def account(made: SimulatedCluster, name: str = "all") -> CreditAccountFact:
    return next(one for one in made.engine.credits.accounts() if one.cohort == name)


def balances(made: SimulatedCluster, name: str = "all") -> dict[str, float]:
    return {
        one.member.name: round(one.balance / PART / MICRO, 3)
        for one in account(made, name).children
    }


def total(found: CreditAccountFact) -> int:
    return sum(one.balance for one in found.children) + sum(found.sinks.values())
