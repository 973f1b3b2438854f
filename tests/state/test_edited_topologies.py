"""A Topology is edited while admitted workloads use it: who runs stays, who waits is told why.

The API server lets levels above hosts be edited, and no others. What it does not let through comes
to pass where a Topology is taken away by force and made anew.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Place, Strand, Wait
from queueing.core.facts import Fact, Gone, Kind, TopologyFact, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, QueueName
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.requests import Placeable, TopologyRequest, in_order
from queueing.core.topology.tree import Node
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admission,
    admitted,
    assignment,
    check,
    check_rule,
    check_state,
    cluster_queue,
    condition,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.hosts import CPU, MODES, QUEUE, checked, node, on

BLOCK, RACK = "block", "rack"
Levels = tuple[str, ...]
RACKS: Levels = (RACK, HOSTNAME)


def topology(*levels: str) -> TopologyFact:
    return TopologyFact(name="hosts", levels=levels)


def host(name: str, rack: str, cpu: int = 2) -> Node:
    made = node(name, cpu)
    return replace(made, labels={**made.labels, RACK: rack, BLOCK: "b"})


OBJECTS: tuple[Fact, ...] = (
    *QUEUE,
    topology(*RACKS),
    host("n1", "r1"),
    host("n2", "r1"),
    host("n3", "r2"),
)


def asking(fact: WorkloadFact, level: str) -> WorkloadFact:
    """Return the same with pods that must be in one domain of a level."""
    (pods,) = fact.pod_sets
    wants = replace(
        pods,
        wants_topology=True,
        topology=TopologyRequest(required=level),
        placeable=Placeable(requests=in_order(pods.requests)),
        shape=f"{pods.shape} {level}",
    )
    return replace(fact, pod_sets=(wants,))


def pending(name: str, pods: int, level: str) -> WorkloadFact:
    """Return a workload of pods with one core each."""
    return asking(workload(name, {"cpu": 1000}, pods, local_queue="team/main"), level)


def running(name: str, level: str, failed: str = "", **pods: int) -> WorkloadFact:
    return holding(name, level, on(**pods), failed=failed)


def holding(name: str, level: str, places: Assignment, *, failed: str = "") -> WorkloadFact:
    """Return an admitted workload of pods with one core each at these places."""
    count = places.count
    made = admitted(name, {"cpu": 1000}, queue="main", local_queue="team/main")
    made = replace(made, pod_sets=(replace(made.pod_sets[0], count=count),))
    held = replace(assignment({"cpu": 1000 * count}), count=count, placement=places)
    unhealthy = (failed,) if failed else ()
    return asking(replace(made, admission=admission("main", held), unhealthy=unhealthy), level)


@pytest.fixture(params=MODES, ids=[one.compatibility for one in MODES])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    yield from checked(request.param, OBJECTS)


def decided(engine: Engine, now: float = 1.0) -> dict[str, str]:
    """Return who is admitted in a cycle, and of others why they wait."""
    found = engine.cycle(now).decisions
    return {
        one.workload.rpartition("/")[2]: "admitted"
        if isinstance(one, Admit | Place)
        else one.message
        for one in found
        if isinstance(one, Admit | Place | Strand | Wait)
    }


def cores(engine: Engine) -> dict[str, int]:
    """Return how many cores of hosts are free."""
    tree = engine._memory.tree.forest.tree(FlavorName("default"))
    return {tree.domains.path[one][-1]: tree.free[CPU][one] // 1000 for one in tree.domains.leaves}


def held(engine: Engine) -> int:
    """Return how much quota is used."""
    found = reports.cluster_queue(engine._memory, QueueName("main"))
    assert found is not None
    return found.reservation[FlavorResource(FlavorName("default"), CPU)].total


EDITS = [
    pytest.param((BLOCK, RACK, HOSTNAME), id="a level is added"),
    pytest.param((HOSTNAME,), id="a level is removed"),
    pytest.param((BLOCK, HOSTNAME), id="a level is renamed"),
]


@pytest.mark.parametrize("levels", EDITS)
def test_who_runs_is_charged_where_it_was(engine: Engine, levels: Levels) -> None:
    engine.observe(running("w", RACK, n1=2, n2=1))
    before = cores(engine)
    engine.observe(topology(*levels))
    check_invariants(engine)
    assert cores(engine) == before == {"n1": 0, "n2": 1, "n3": 2}
    engine.observe(Gone(Kind.WORKLOAD, "team/w"))
    assert cores(engine) == {"n1": 2, "n2": 2, "n3": 2}


def test_who_asks_for_a_level_that_is_gone_is_told_so_and_others_go_on(engine: Engine) -> None:
    engine.observe(running("w", RACK, n1=2))
    engine.observe(topology(HOSTNAME))
    engine.observe(pending("racked", 2, RACK))
    engine.observe(pending("other", 2, HOSTNAME))
    told = decided(engine) | decided(engine)
    assert told["other"] == "admitted"
    assert 'Flavor "default" does not contain the requested level' in told["racked"]


def test_who_waited_for_a_level_that_is_added_is_judged_again(engine: Engine) -> None:
    engine.observe(pending("w", 5, BLOCK))
    assert "does not contain the requested level" in decided(engine)["w"]
    engine.observe(topology(BLOCK, RACK, HOSTNAME))
    assert decided(engine) == {"w": "admitted"}


def test_a_level_that_no_node_has_takes_nobody_until_it_is_taken_back(engine: Engine) -> None:
    engine.observe(running("w", RACK, n1=2))
    engine.observe(topology("cage", HOSTNAME))
    engine.observe(pending("v", 2, HOSTNAME))
    assert "no topology domains at level: kubernetes.io/hostname" in decided(engine)["v"]
    engine.observe(topology(*RACKS))
    assert cores(engine) == {"n1": 0, "n2": 2, "n3": 2}
    assert decided(engine) == {"v": "admitted"}


@pytest.mark.parametrize("levels", [(HOSTNAME,), (BLOCK, HOSTNAME)])
def test_pods_of_a_failed_node_whose_level_is_gone_get_no_other_node(
    engine: Engine, levels: Levels
) -> None:
    failed = running("w", RACK, failed="n1", n1=1, n2=1)
    engine.observe(running("w", RACK, n1=1, n2=1))
    engine.observe(topology(*levels))
    engine.observe(failed)
    no_node = "Workload was evicted as there was no replacement for unhealthy node(s): n1"
    assert decided(engine) == {"w": no_node}
    again = (
        condition("QuotaReserved", "Pending", status=False),
        condition("Evicted", "NodeFailures"),
    )
    asks = pending("w", 2, RACK)
    engine.observe(replace(asks, conditions={one.type: one for one in again}))
    assert "does not contain the requested level" in decided(engine, 2.0)["w"]


def test_who_gets_places_after_its_checks_is_told_that_its_level_is_gone(engine: Engine) -> None:
    quotas = {"default": {"cpu": quota(100_000)}}
    engine.observe(check())
    engine.observe(cluster_queue("main", quotas, checks=(check_rule(),)))
    fact = replace(running("w", RACK, n1=2), checks=(check_state(),))
    late = replace(assignment({"cpu": 2000}), count=2, delayed=True)
    conditions = {name: one for name, one in fact.conditions.items() if name != "Admitted"}
    engine.observe(topology(HOSTNAME))
    engine.observe(replace(fact, admission=admission("main", late), conditions=conditions))
    told = "couldn't assign flavors to pod set main: no requested topology level: rack"
    assert decided(engine) == {"w": told}
    engine.observe(topology(*RACKS))
    assert decided(engine, 10.0) == {"w": "admitted"}


BY_RACKS = Assignment((BLOCK, RACK), (Domain(("b", "r1"), 2),))


@pytest.mark.parametrize("levels", [(RACK,), (BLOCK,), (BLOCK, RACK, HOSTNAME)])
def test_places_at_leaves_that_are_none_any_more_count_again_when_they_are_back(
    engine: Engine, levels: Levels
) -> None:
    """As on a node that is gone: quota stays charged, and nobody else is kept from starting."""
    engine.observe(topology(BLOCK, RACK))
    engine.observe(holding("w", RACK, BY_RACKS))
    engine.observe(topology(*levels))
    engine.observe(pending("v", 2, levels[-1]))
    assert decided(engine) == {"v": "admitted"}
    assert held(engine) == 4_000
    engine.observe(Gone(Kind.WORKLOAD, "team/v"))
    engine.observe(topology(BLOCK, RACK))
    assert cores(engine) == {"r1": 2, "r2": 2}
    assert held(engine) == 2_000
