"""Who waits for a place is judged again when there is more room on nodes, and not otherwise."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Outcome, Place, Preempt, Verdict, Wait
from queueing.core.devices import DeviceOffer
from queueing.core.facts import (
    ClusterQueueFact,
    Fact,
    Gone,
    Kind,
    NodeDevicesFact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.names import FlavorName, Key, QueueName
from queueing.core.settings import Settings
from queueing.core.topology.assignment import HOSTNAME
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admission,
    admitted,
    assignment,
    cluster_queue,
    flavor,
    local_queue,
    preemption,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants
from tests.state.hosts import CPU, MODES, QUEUE, checked, node, on, used

OBJECTS: tuple[Fact, ...] = (*QUEUE, node("n", 4))


def pending(name: str, cpu: int) -> WorkloadFact:
    return workload(name, {"cpu": cpu * 1000}, local_queue="team/main")


def devices(name: str, free: int) -> NodeDevicesFact:
    """Return so many free cores of a node, as if they were devices."""
    return NodeDevicesFact(name=name, free={FlavorName("default"): {CPU: free * 1000}})


def holding(name: str, cpu: int, host: str, *, queue: str = "main") -> WorkloadFact:
    """Return an admitted workload of one pod, with so many cores of a node."""
    held = replace(assignment({"cpu": cpu * 1000}), placement=on(**{host: 1}))
    made = admitted(name, {"cpu": cpu * 1000}, queue=queue, local_queue=f"team/{queue}")
    return replace(made, admission=admission(queue, held))


@pytest.fixture(params=MODES, ids=[one.compatibility for one in MODES])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    yield from checked(request.param, OBJECTS)


def decided(engine: Engine) -> list[str]:
    found = engine.cycle(1.0).decisions
    return [
        f"{type(one).__name__} {one.workload}" for one in found if isinstance(one, Admit | Wait)
    ]


def test_more_room_on_a_node_admits_who_waited_for_it(engine: Engine) -> None:
    engine.observe(used("n", 2))
    engine.observe(pending("w", 3))
    assert decided(engine) == ["Wait team/w"]
    engine.observe(used("n", 1))
    assert decided(engine) == ["Admit team/w"]


def test_another_node_admits_who_fitted_nowhere(engine: Engine) -> None:
    engine.observe(pending("w", 5))
    assert decided(engine) == ["Wait team/w"]
    engine.observe(node("large", 8))
    assert decided(engine) == ["Admit team/w"]


def test_less_room_judges_nobody_again(engine: Engine) -> None:
    engine.observe(pending("w", 5))
    assert decided(engine) == ["Wait team/w"]
    engine.observe(used("n", 2))
    assert decided(engine) == []


def test_a_node_that_is_cordoned_or_gone_takes_nobody(engine: Engine) -> None:
    engine.observe(node("n", 4, schedulable=False))
    engine.observe(pending("w", 1))
    assert decided(engine) == ["Wait team/w"]
    engine.observe(node("n", 4))
    assert decided(engine) == ["Admit team/w"]
    engine.observe(Gone(Kind.NODE, "n"))
    engine.observe(pending("v", 1))
    assert decided(engine) == ["Wait team/v"]


def test_devices_of_a_node_that_become_free_admit_who_waited_for_them(engine: Engine) -> None:
    engine.observe(replace(flavor(topology="hosts"), on_nodes={CPU: 0}))
    engine.observe(pending("w", 3))
    assert decided(engine) == ["Wait team/w"]
    engine.observe(devices("n", 4))
    assert decided(engine) == ["Admit team/w"]
    engine.observe(pending("v", 2))
    assert decided(engine) == ["Wait team/v"]
    engine.observe(devices("n", 3))
    assert decided(engine) == []
    engine.observe(devices("n", 5))
    assert decided(engine) == ["Admit team/v"]


def test_offers_of_devices_that_change_leave_the_tree_as_it_is(engine: Engine) -> None:
    made = flavor(topology="hosts")
    before = engine._memory.tree.forest.tree(made.name)
    engine.observe(replace(made, devices={"shape": DeviceOffer(amount=1)}))
    assert engine._memory.tree.forest.tree(made.name) is before


def test_what_was_placed_before_is_not_given_twice(engine: Engine) -> None:
    for name in "abcde":
        engine.observe(pending(name, 1))
    told = decided(engine)
    while more := decided(engine):
        told += more
    assert sorted({one for one in told if one.startswith("Admit")}) == [
        f"Admit team/{one}" for one in "abcd"
    ]


def test_a_flavor_that_changes_counts_what_was_placed(engine: Engine) -> None:
    engine.observe(pending("a", 3))
    assert decided(engine) == ["Admit team/a"]
    engine.observe(flavor(topology="hosts", labels={HOSTNAME: "n"}))
    engine.observe(pending("b", 2))
    assert decided(engine) == ["Wait team/b"]


def test_pods_of_a_queue_that_goes_and_comes_back_stay_where_they_are(engine: Engine) -> None:
    objects = {one.name: one for one in OBJECTS if isinstance(one, ClusterQueueFact)}
    engine.observe(holding("r", 3, "n"))
    engine.observe(Gone(Kind.CLUSTER_QUEUE, "main"))
    check_invariants(engine)
    engine.observe(objects[QueueName("main")])
    engine.observe(pending("large", 2))
    engine.observe(pending("small", 1))
    assert {one for one in (*decided(engine), *decided(engine)) if one.startswith("Admit")} == {
        "Admit team/small"
    }


def test_a_promise_ends_where_others_take_its_place() -> None:
    engine = Engine(Settings())
    for one in OBJECTS:
        engine.observe(one)
    lower = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    engine.observe(cluster_queue("main", {"default": {"cpu": quota(4_000)}}, preemption=lower))
    engine.observe(node("small", 1))
    engine.observe(holding("low", 4, "n"))
    engine.observe(replace(pending("high", 4), priority=9))
    (evicted,) = (one for one in engine.cycle(1.0).decisions if isinstance(one, Preempt))
    engine.settle(Outcome(decision=evicted, verdict=Verdict.DONE))
    engine.observe(used("n", 1))
    engine.observe(Gone(Kind.WORKLOAD, "team/low"))
    engine.observe(pending("s", 1))
    assert "Admit team/s" in (*decided(engine), *decided(engine))
    check_invariants(engine)


@pytest.fixture
def shared() -> Iterator[Engine]:
    """Return an engine with another tree whose queue offers the same nodes."""
    engine = Engine(Settings())
    for one in OBJECTS:
        engine.observe(one)
    lower = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    quotas = {"default": {"cpu": quota(8_000)}}
    engine.observe(cluster_queue("other", quotas, preemption=lower))
    engine.observe(local_queue("team/other", "other"))
    yield engine
    check_invariants(engine)


def running(name: str, host: str, failed: str = "") -> WorkloadFact:
    """Return a workload of the other tree with 4 cores of a node."""
    unhealthy = (failed,) if failed else ()
    return replace(holding(name, 4, host, queue="other"), unhealthy=unhealthy)


def test_a_place_that_is_left_is_told_to_queues_of_other_trees(shared: Engine) -> None:
    shared.observe(running("r", "n"))
    shared.observe(pending("w", 2))
    assert decided(shared) == ["Wait team/w"]
    shared.observe(Gone(Kind.WORKLOAD, "team/r"))
    assert decided(shared) == ["Admit team/w"]


def test_a_place_that_is_left_is_no_news_where_it_is_not_offered(shared: Engine) -> None:
    shared.observe(flavor("far", topology="hosts", labels={"pool": "far"}))
    shared.observe(cluster_queue("far", {"far": {"cpu": quota(100_000)}}))
    shared.observe(local_queue("team/far", "far"))
    away = node("away", 4)
    shared.observe(replace(away, labels={**away.labels, "pool": "far"}))
    shared.observe(running("r", "n"))
    shared.observe(running("stays", "away"))
    shared.observe(replace(pending("w", 2), local_queue=Key("team/far")))
    assert decided(shared) == ["Wait team/w"]
    shared.observe(Gone(Kind.WORKLOAD, "team/r"))
    assert shared.cycle(1.0).judged == 0


def test_a_place_that_is_promised_no_more_is_told_to_queues_of_other_trees(shared: Engine) -> None:
    shared.observe(node("o", 4))
    for name, host in (("low-n", "n"), ("low-o", "o")):
        shared.observe(running(name, host))
    high = workload("high", {"cpu": 4000}, 2, local_queue="team/other", priority=9)
    shared.observe(high)
    shared.observe(pending("w", 2))
    assert sorted(decided(shared)) == ["Wait team/high", "Wait team/w"]
    shared.observe(Gone(Kind.WORKLOAD, "team/low-n"))
    assert "Admit team/w" not in decided(shared)
    shared.observe(Gone(Kind.WORKLOAD, high.key))
    assert decided(shared) == ["Admit team/w"]


def test_a_place_that_pods_moved_away_from_is_told_to_queues_of_other_trees(shared: Engine) -> None:
    shared.observe(running("r", "n"))
    shared.observe(node("m", 4))
    shared.observe(used("m", 1))
    shared.observe(pending("w", 4))
    assert decided(shared) == ["Wait team/w"]
    shared.observe(running("r", "m"))
    assert decided(shared) == ["Admit team/w"]


def test_a_place_whose_write_was_refused_is_told_to_queues_of_other_trees(shared: Engine) -> None:
    shared.observe(running("r", "n", failed="n"))
    shared.observe(node("m", 4))
    shared.observe(node("n", 4, schedulable=False))
    (move,) = shared.cycle(1.0).decisions
    assert isinstance(move, Place)
    shared.observe(pending("w", 2))
    assert decided(shared) == ["Wait team/w"]
    shared.settle(Outcome(decision=move, verdict=Verdict.REFUSED))
    assert decided(shared) == ["Admit team/w"]
