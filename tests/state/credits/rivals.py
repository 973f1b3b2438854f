"""Three queues of one cohort, of which some try to gain by credits."""

from dataclasses import replace
from typing import Any

from queueing.core.credits.facts import (
    MICRO,
    PART,
)
from queueing.core.facts import Condition, Fact
from queueing.core.names import Key
from queueing.core.settings import FairSharing, Settings
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    workload,
)
from tests.state.members import LASTING

START = 1_000_000.0
SETTINGS = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
QUEUES = ("a", "b", "c")


def world(**terms: Any) -> SimulatedCluster:
    """Make three queues under terms by which balances do not shrink, unless a test says so."""
    policy = replace(LASTING, **terms)
    made = SimulatedCluster([cohort("all"), flavor(), namespace()], settings=SETTINGS)
    for name in QUEUES:
        made.observe(queue(name))
        made.observe(local_queue(f"team/{name}", name))
    made.engine.observe(policy)
    made.cycle(START)
    return made


def queue(name: str, cores: int = 4) -> Fact:
    return cluster_queue(name, {"default": {"cpu": cores * 1000}}, cohort="all")


def run(
    made: SimulatedCluster, name: str, where: str, cores: int, *, at: float, **more: Any
) -> None:
    made.observe(
        workload(name, {"cpu": cores * 1000}, local_queue=f"team/{where}", created=at, **more)
    )
    made.cycle(at)


def end(made: SimulatedCluster, name: str, at: float) -> None:
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


def balances(made: SimulatedCluster, at: float) -> dict[str, float]:
    made.cycle(at)
    [account] = made.engine.credits.accounts()
    assert sum(one.balance for one in account.children) + sum(account.sinks.values()) == 0
    return {one.member.name: round(one.balance / PART / MICRO, 2) for one in account.children}


def evict(made: SimulatedCluster, name: str, at: float) -> None:
    """Let a workload give its quota back."""
    fact = made.workloads[Key(f"team/{name}")]
    released = Condition(type="QuotaReserved", status=False, reason="Pending", changed=at)
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=at)
    held = Condition(type="Requeued", status=False, reason="Preempted", changed=at)
    conditions = {**fact.conditions}
    conditions |= {one.type: one for one in (released, evicted, held)}
    made.observe(replace(fact, admission=None, conditions=conditions))
