"""Slices of an elastic job whose pods are placed: those that run keep their places."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Wait
from queueing.core.facts import Condition, Fact, Gone, Kind, TopologyFact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Compatibility, Settings
from queueing.core.topology.assignment import HOSTNAME, Assignment
from queueing.core.topology.requests import TopologyRequest
from queueing.testing.builders import workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from tests.state.hosts import CPU, QUEUE, node, on, used
from tests.state.test_second_passes import placed

JOB = "team/w uid"
AS_KUEUE = Settings(compatibility=Compatibility.KUEUE)
GATE_OFF = replace(AS_KUEUE, grows_in_place=False)


def slice_of(fact: WorkloadFact) -> WorkloadFact:
    return replace(fact, slice_of=JOB)


def wanting(name: str, count: int, request: TopologyRequest | None = None) -> WorkloadFact:
    """Return a slice that waits, of so many pods of one core."""
    made = workload(name, {"cpu": 1000}, local_queue="team/main")
    one = replace(made.pod_sets[0], count=count)
    if request is not None:
        one = replace(one, topology=request, wants_topology=True)
    return slice_of(replace(made, pod_sets=(one,), created=500.0))


def running(settings: Settings | None = None, *more: Fact, **pods: int) -> ObedientCluster:
    """Return three nodes of 4 cores, and a job that runs on some."""
    nodes = [node(name, 4) for name in "abc"]
    return ObedientCluster([*QUEUE, *nodes, slice_of(placed("w", 1, "", **pods)), *more], settings)


def place_of(world: ObedientCluster, name: str) -> Assignment | None:
    held = world.workloads[Key(f"team/{name}")].admission
    assert held is not None
    return held.pod_sets[0].placement


def free(world: ObedientCluster) -> dict[str, int]:
    """Return the cores that the next workload finds free on each node."""
    tree = world.engine._memory.tree.forest.tree(next(iter(world.engine._memory.objects.flavors)))
    leaf_of = tree.domains.leaf_of
    return {name: tree.free[CPU][leaf_of[name]] // 1000 for name in sorted(leaf_of)}


def replaced(world: ObedientCluster, name: str) -> None:
    """Finish a slice, because another stands for its job."""
    fact = world.workloads[Key(f"team/{name}")]
    done = Condition(
        type="Finished", status=True, reason="WorkloadSliceReplaced", changed=world.now
    )
    world.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))


@pytest.mark.parametrize("settings", [Settings(), AS_KUEUE], ids=["queueing", "as Kueue"])
def test_a_job_that_grows_keeps_its_places_and_is_charged_what_it_adds(
    settings: Settings,
) -> None:
    """By itself a slice of 5 would fill a, b or c, and begin with the fullest node."""
    world = running(settings, a=1, c=2)
    assert free(world) == {"a": 3, "b": 4, "c": 2}
    world.observe(wanting("v", 5))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "v") == on(a=1, c=4)
    assert free(world) == {"a": 3, "b": 4, "c": 0}
    replaced(world, "w")
    check_invariants(world.engine)
    assert free(world) == {"a": 3, "b": 4, "c": 0}


def test_a_job_grows_where_there_is_room_only_for_what_it_adds() -> None:
    world = running(None, placed("full", 1, "", a=3, b=4), a=1, c=3)
    world.observe(wanting("v", 5))
    world.cycle()
    assert place_of(world, "v") == on(a=1, c=4)
    replaced(world, "w")
    world.observe(wanting("u", 6))
    (told,) = (one for one in world.cycle().decisions if isinstance(one, Wait))
    assert "doesn't allow to fit any of 1 pod(s)" in told.message
    check_invariants(world.engine)


def shrunk(world: ObedientCluster, name: str, count: int) -> None:
    """Let only so many pods of a slice be left."""
    fact = world.workloads[Key(f"team/{name}")]
    world.observe(replace(fact, pod_sets=(replace(fact.pod_sets[0], count=count),)))
    check_invariants(world.engine)


def test_a_job_that_shrinks_is_charged_wherever_the_pods_may_be_that_are_left() -> None:
    world = running(a=2, c=2)
    shrunk(world, "w", 3)
    assert free(world) == {"a": 2, "b": 4, "c": 2}
    shrunk(world, "w", 1)
    assert free(world) == {"a": 3, "b": 4, "c": 3}
    world.observe(wanting("v", 2))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "v") == on(a=1, c=1)
    replaced(world, "w")
    shrunk(world, "v", 0)
    assert free(world) == {"a": 4, "b": 4, "c": 4}


def test_a_job_that_grew_and_shrinks_is_charged_where_its_oldest_pods_are() -> None:
    """The pods of w are on c, and those that v added before them in the order of the nodes."""
    world = running(None, placed("full", 1, "", b=4), used("c", 2), c=2)
    world.observe(wanting("v", 3))
    world.cycle()
    assert place_of(world, "v") == on(a=1, c=2)
    replaced(world, "w")
    shrunk(world, "v", 2)
    assert free(world) == {"a": 3, "b": 0, "c": 0}


def test_a_job_that_grows_again_is_kept_more_places_than_it_has_pods() -> None:
    """Its one pod is on a, b or c, and the second may be on another of them."""
    world = running(a=1, b=1, c=1)
    shrunk(world, "w", 1)
    world.observe(wanting("v", 2))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "v") == on(a=1, b=1, c=1)
    replaced(world, "w")
    world.observe(wanting("u", 4))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "u") == on(a=2, b=1, c=1)


def test_where_a_place_is_gone_a_job_that_grows_gets_others_for_all_pods() -> None:
    world = running(None, Gone(Kind.NODE, "c"), a=1, c=2)
    world.observe(wanting("v", 4))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "v") == on(b=4)


def test_without_its_gate_a_job_that_grows_is_placed_as_a_whole_in_kueue_mode() -> None:
    world = running(GATE_OFF, a=1, c=2)
    world.observe(wanting("v", 4))
    world.cycle()
    check_invariants(world.engine)
    assert place_of(world, "v") == on(b=4)
    assert free(world) == {"a": 3, "b": 0, "c": 2}


@pytest.mark.parametrize(
    ("sort", "request_"),
    [
        ("required", TopologyRequest(required=HOSTNAME)),
        ("preferred", TopologyRequest(preferred=HOSTNAME)),
    ],
)
def test_in_kueue_mode_slices_may_not_be_bound_to_a_level(
    sort: str, request_: TopologyRequest
) -> None:
    world = running(AS_KUEUE, a=1)
    world.observe(wanting("v", 2, request_))
    (told,) = (one for one in world.cycle().decisions if not isinstance(one, Admit))
    assert isinstance(told, Wait)
    assert told.message == (
        "failed to assign flavors to pod set main:"
        f" {sort} topology is not supported with ElasticJobsViaWorkloadSlices"
    )


def in_racks(*more: Fact) -> ObedientCluster:
    """Return a job with a pod on a, which is in rack r with b, beside the rack s with c and d."""
    where = {"a": "r", "b": "r", "c": "s", "d": "s"}
    nodes = [
        replace(node(name, 4), labels={HOSTNAME: name, "rack": rack})
        for name, rack in where.items()
    ]
    racks = TopologyFact(name="hosts", levels=("rack", HOSTNAME))
    return ObedientCluster([*QUEUE, racks, *nodes, slice_of(placed("w", 1, "", a=1)), *more])


IN_RACK = {
    "required": TopologyRequest(required="rack"),
    "preferred": TopologyRequest(preferred="rack"),
}


@pytest.mark.parametrize("sort", IN_RACK)
def test_a_job_that_is_bound_to_a_rack_grows_in_its_own(sort: str) -> None:
    """By itself a slice of 5 would go to the rack s, which is empty."""
    world = in_racks(placed("other", 1, "", b=2))
    world.observe(wanting("v", 5, IN_RACK[sort]))
    world.cycle()
    assert place_of(world, "v") == on(a=4, b=1)
    replaced(world, "w")
    check_invariants(world.engine)
    assert free(world) == {"a": 0, "b": 1, "c": 4, "d": 4}


def test_a_job_that_must_be_in_a_rack_waits_for_room_in_its_own() -> None:
    world = in_racks(placed("other", 1, "", b=3))
    world.observe(wanting("v", 6, IN_RACK["required"]))
    (told,) = (one for one in world.cycle().decisions if not isinstance(one, Admit))
    assert isinstance(told, Wait)
    assert "allows to fit only 4 out of 5 pod(s)" in told.message


def test_a_job_that_prefers_a_rack_grows_elsewhere_if_its_own_is_full() -> None:
    world = in_racks(placed("other", 1, "", b=3))
    world.observe(wanting("v", 6, IN_RACK["preferred"]))
    world.cycle()
    assert place_of(world, "v") == on(a=1, c=4, d=1)


def test_pods_that_must_be_in_a_rack_and_are_not_get_new_places() -> None:
    world = in_racks()
    world.observe(slice_of(placed("w", 1, "", a=1, c=1)))
    world.observe(wanting("v", 3, IN_RACK["required"]))
    world.cycle()
    assert place_of(world, "v") == on(a=3)


def test_what_is_preempted_for_a_job_that_grows_is_what_its_new_pods_need() -> None:
    world = running(None, placed("full", 1, "", a=3, b=4), a=1, c=4)
    world.observe(wanting("v", 6))
    (told,) = (one for one in world.cycle().decisions if isinstance(one, Wait))
    assert told.mode == "NoCandidates"
    check_invariants(world.engine)
