"""Which flavor a workload gets: eligibility, several groups and pod sets, reasons and messages."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit, Mode, Reason, Requeue, Wait
from queueing.core.facts import ClusterQueueFact, PodSet
from queueing.core.flavors.assignment import Progress
from queueing.core.names import (
    FlavorName,
    FlavorResource,
    PodSetName,
    QueueName,
    ResourceName,
)
from queueing.core.outline import search_place
from queueing.core.selectors import Requirement, Taint, Toleration
from queueing.core.settings import QuotaCheck, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    flavor,
    pod_set,
    quota,
    workload,
)

SPOT = Taint(key="instance", value="spot", effect="NoSchedule")


def flavors_of(arena: Arena, *pod_sets: PodSet) -> dict[str, dict[str, str]] | Wait:
    """Judge one workload alone: the flavors of each pod set, or why it waits."""
    [judgement] = arena.round(workload("one", local_queue="team/main", pod_sets=pod_sets))
    decision = judgement.decision
    if isinstance(decision, Wait):
        return decision
    return {
        str(one.name): {str(k): str(v) for k, v in one.flavors.items()} for one in decision.pod_sets
    }


def message_of(arena: Arena, *pod_sets: PodSet) -> str:
    found = flavors_of(arena, *pod_sets)
    assert isinstance(found, Wait)
    return found.message.removeprefix("couldn't assign flavors to pod set main: ")


def two(**quotas: int) -> ClusterQueueFact:
    return cluster_queue(quotas={name: {"cpu": amount} for name, amount in quotas.items()})


def affinity(*terms: Requirement) -> tuple[tuple[Requirement, ...], ...]:
    return tuple((term,) for term in terms)


IN_WEST = Requirement(key="zone", operator="In", values=("west",))
NOT_EAST = Requirement(key="zone", operator="NotIn", values=("east",))
FOREIGN = Requirement(key="disk", operator="In", values=("ssd",))


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(pod_set(), "east", id="no wish: the first"),
        pytest.param(pod_set(node_selector={"zone": "west"}), "west", id="a selector"),
        pytest.param(
            pod_set(node_selector={"disk": "ssd"}), "east", id="a selector on foreign labels"
        ),
        pytest.param(pod_set(node_affinity=affinity(IN_WEST)), "west", id="required affinity"),
        pytest.param(pod_set(node_affinity=affinity(NOT_EAST)), "west", id="negative affinity"),
        pytest.param(pod_set(node_affinity=affinity(FOREIGN)), "east", id="foreign affinity"),
        pytest.param(
            pod_set(node_affinity=affinity(IN_WEST, FOREIGN)),
            "east",
            id="an alternative that says nothing of the labels matches all",
        ),
        pytest.param(
            pod_set(node_affinity=((IN_WEST, FOREIGN),)), "west", id="foreign terms are ignored"
        ),
    ],
)
def test_labels_choose_among_flavors(asked: PodSet, want: str) -> None:
    arena = Arena(
        two(east=10_000, west=10_000),
        flavor("east", labels={"zone": "east"}),
        flavor("west", labels={"zone": "west"}),
    )
    assert flavors_of(arena, asked) == {"main": {"cpu": want}}


@pytest.mark.parametrize(
    ("by_pod", "by_flavor", "want"),
    [
        pytest.param((), (), "plain", id="an untolerated taint keeps away"),
        pytest.param(
            (Toleration(key="instance", value="spot"),), (), "spot", id="the pods tolerate it"
        ),
        pytest.param(
            (), (Toleration(key="instance", operator="Exists"),), "spot", id="the flavor does"
        ),
        pytest.param((Toleration(key="instance", value="other"),), (), "plain", id="other value"),
        pytest.param(
            (Toleration(operator="Exists", effect="NoExecute"),), (), "plain", id="other effect"
        ),
        pytest.param((Toleration(operator="Exists"),), (), "spot", id="everything is tolerated"),
    ],
)
def test_taints_and_tolerations(
    by_pod: tuple[Toleration, ...], by_flavor: tuple[Toleration, ...], want: str
) -> None:
    arena = Arena(
        two(spot=10_000, plain=10_000), flavor("spot", taints=(SPOT,), tolerations=by_flavor)
    )
    assert flavors_of(arena, pod_set(tolerations=by_pod)) == {"main": {"cpu": want}}


def test_a_taint_that_only_discourages_is_ignored() -> None:
    soft = Taint(key="instance", value="spot", effect="PreferNoSchedule")
    arena = Arena(two(spot=10_000, plain=10_000), flavor("spot", taints=(soft,)))
    assert flavors_of(arena, pod_set()) == {"main": {"cpu": "spot"}}


def test_every_reason_is_listed_in_order() -> None:
    arena = Arena(
        two(a=10_000, b=10_000, c=500, gone=10_000),
        flavor("a", taints=(SPOT,)),
        flavor("b", labels={"zone": "b"}),
        flavor("c", labels={"zone": "c"}),
        missing=["gone"],
    )
    found = flavors_of(arena, pod_set({"cpu": 1_000}, node_selector={"zone": "x"}))
    assert isinstance(found, Wait)
    assert found.message == (
        "couldn't assign flavors to pod set main: "
        "flavor b doesn't match node affinity, flavor c doesn't match node affinity, "
        "flavor gone not found, untolerated taint {instance spot NoSchedule <nil>} in flavor a"
    )
    assert (found.reason, found.mode) == (Reason.NO_MATCHING_FLAVOR, Mode.NO_FIT)


def test_a_flavor_that_is_only_too_small_softens_the_reason() -> None:
    arena = Arena(two(a=10_000, b=500), flavor("a", taints=(SPOT,)))
    found = flavors_of(arena, pod_set())
    assert isinstance(found, Wait)
    assert found.reason is Reason.EXCEEDS_MAX_QUOTA


def test_the_hardest_reason_of_all_groups_counts() -> None:
    arena = Arena(
        cluster_queue(quotas=[{"a": {"cpu": 500}}, {"b": {"gpu": 10}}]),
        admitted("busy", {"gpu": 9}, queue="main", flavor="b"),
    )
    found = flavors_of(arena, pod_set({"cpu": 1_000, "gpu": 2}))
    assert isinstance(found, Wait)
    assert found.reason is Reason.EXCEEDS_MAX_QUOTA


def test_resources_of_one_group_get_one_flavor_and_groups_choose_apart() -> None:
    arena = Arena(
        cluster_queue(
            quotas=[
                {"a": {"cpu": 9_000, "memory": 1}, "b": {"cpu": 9_000, "memory": 9}},
                {"c": {"gpu": 1}, "d": {"gpu": 8}},
            ]
        )
    )
    found = flavors_of(arena, pod_set({"cpu": 1_000, "memory": 5, "gpu": 1}))
    assert found == {"main": {"cpu": "b", "memory": "b", "gpu": "c"}}


def test_a_pod_set_counts_on_top_of_the_ones_before_it() -> None:
    arena = Arena(two(a=3_000, b=3_000))
    found = flavors_of(
        arena, pod_set({"cpu": 2_000}, name="driver"), pod_set({"cpu": 1_000}, 2, name="workers")
    )
    assert found == {"driver": {"cpu": "a"}, "workers": {"cpu": "b"}}


def test_the_message_names_the_pod_set_and_what_came_before() -> None:
    arena = Arena(two(a=3_000))
    found = flavors_of(
        arena, pod_set({"cpu": 2_000}, name="driver"), pod_set({"cpu": 1_000}, 2, name="workers")
    )
    assert isinstance(found, Wait)
    assert found.message == (
        "couldn't assign flavors to pod set workers: insufficient quota for cpu in flavor a, "
        "previously considered podsets requests (2) + current podset request (2) "
        "> maximum capacity (3)"
    )


def test_pod_sets_of_one_group_get_the_same_flavor_or_none() -> None:
    arena = Arena(two(a=3_000, b=4_000))
    found = flavors_of(
        arena,
        pod_set({"cpu": 2_000}, name="leader", group="g"),
        pod_set({"cpu": 1_000}, 2, name="workers", group="g"),
    )
    assert found == {"leader": {"cpu": "b"}, "workers": {"cpu": "b"}}


def test_pods_are_counted_when_the_queue_covers_them() -> None:
    arena = Arena(cluster_queue(quotas={"a": {"cpu": 10_000, "pods": 3}}))
    [judgement] = arena.round(
        workload("one", local_queue="team/main", pod_sets=(pod_set({"cpu": 1_000}, 3),))
    )
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].usage == {"cpu": 3_000, "pods": 3}
    assert "maximum capacity (3)" in message_of(arena, pod_set({"cpu": 1}, 4))


@pytest.mark.parametrize(
    ("check", "amount", "admits"),
    [
        pytest.param(QuotaCheck.BLOCK_UNDECLARED, 1, False, id="an uncovered resource blocks"),
        pytest.param(QuotaCheck.BLOCK_UNDECLARED, 0, True, id="none of it does not"),
        pytest.param(QuotaCheck.IGNORE_UNDECLARED, 1, True, id="unless told to ignore it"),
    ],
)
def test_resources_that_the_queue_does_not_cover(
    check: QuotaCheck, amount: int, *, admits: bool
) -> None:
    arena = Arena(two(a=10_000), settings=Settings(quota_check=check))
    asked = pod_set({"cpu": 1_000, "fpga": amount})
    if admits:
        assert flavors_of(arena, asked) == {"main": {"cpu": "a"}}
    else:
        assert message_of(arena, asked) == "resource fpga unavailable in ClusterQueue"


@pytest.mark.parametrize(
    ("requests", "want"),
    [
        pytest.param({"disk": 9, "memory": 9}, "resource memory unavailable", id="memory first"),
        pytest.param({"disk": 9, "npu": 9}, "resource npu unavailable", id="npu before disk"),
        pytest.param({"disk": 9, "xpu": 9}, "resource xpu unavailable", id="xpu before disk"),
        pytest.param({"disk": 9, "tape": 9}, "maximum capacity (3)", id="disk before tape"),
    ],
)
def test_the_search_ends_at_the_first_resource_that_fails_by_the_hash_of_its_name(
    requests: dict[str, int], want: str
) -> None:
    arena = Arena(cluster_queue(quotas={"a": {"disk": 3}}))
    told = message_of(arena, pod_set(requests))
    assert want in told
    assert ", insufficient" not in told


def test_hashes_are_those_of_kueue() -> None:
    names = ["cpu", "example.com/gpu", "memory", "nvidia.com/gpu"]
    ordered = sorted(map(ResourceName, names), key=search_place)
    assert ordered == ["memory", "nvidia.com/gpu", "example.com/gpu", "cpu"]
    assert search_place(ResourceName("cpu")) == 0xF5A8FA190CB314C9


def test_a_pod_set_that_got_no_flavors_has_none_left_to_try() -> None:
    arena = Arena(cluster_queue(quotas=[{"a": {"cpu": 9}, "b": {"cpu": 9}}, {"c": {"gpu": 1}}]))
    [judgement] = arena.round(workload("one", {"cpu": 1, "gpu": 2}, local_queue="team/main"))
    assert isinstance(judgement.decision, Wait)
    assert judgement.progress is None
    assert judgement.decision.requeue is Requeue.INADMISSIBLE


def test_the_pod_set_before_the_one_that_fails_goes_on_with_its_next_flavor() -> None:
    arena = Arena(cluster_queue(quotas=[{"a": {"cpu": 9}, "b": {"cpu": 9}}, {"c": {"gpu": 1}}]))
    pod_sets = (pod_set({"cpu": 1}, name="driver"), pod_set({"gpu": 2}, name="workers"))
    [judgement] = arena.round(workload("one", local_queue="team/main", pod_sets=pod_sets))
    assert judgement.progress is not None
    assert judgement.progress.tried == {(0, 0): 0}
    assert isinstance(judgement.decision, Wait)
    assert judgement.decision.requeue is Requeue.IMMEDIATE


def test_fewer_pods_go_on_where_the_search_for_all_of_them_stopped() -> None:
    arena = Arena(two(a=4, b=4))
    asking = pod_set({"cpu": 1}, 5, min_count=1)
    head = arena.head(workload("one", local_queue="team/main", pod_sets=(asking,)))
    generation = arena.tree.queue(QueueName("main")).root.generation
    stopped = Progress(generation, head.demand.full, {(0, 0): 0})
    [judgement] = arena.judge([replace(head, progress=stopped)])
    assert isinstance(judgement.decision, Admit)
    [given] = judgement.decision.pod_sets
    assert (given.count, given.flavors) == (4, {"cpu": "b"})


def test_pods_that_ask_for_a_topology_use_no_flavor_without_one() -> None:
    found = flavors_of(Arena(two(plain=9_000)), pod_set(wants_topology=True))
    assert isinstance(found, Wait)
    assert found.reason is Reason.NO_MATCHING_FLAVOR
    assert found.message.endswith('Flavor "plain" does not support TopologyAwareScheduling')


def test_pods_that_are_needed_no_more_ask_for_nothing() -> None:
    arena = Arena(two(a=3_000))
    head = workload(
        "one",
        local_queue="team/main",
        pod_sets=(pod_set({"cpu": 1_000}, 5),),
        reclaimable={PodSetName("main"): 2},
    )
    [judgement] = arena.round(head)
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.pod_sets[0].count == 3
    assert judgement.entry.usage == {FlavorResource(FlavorName("a"), ResourceName("cpu")): 3_000}


@pytest.mark.parametrize(
    ("free", "want"),
    [
        pytest.param(10, 10, id="all fit"),
        pytest.param(7, 7, id="as many as fit"),
        pytest.param(3, 3, id="just the minimum"),
        pytest.param(2, None, id="less than the minimum"),
    ],
)
def test_partial_admission_takes_as_many_pods_as_fit(free: int, want: int | None) -> None:
    arena = Arena(two(a=10), admitted("busy", {"cpu": 10 - free}, queue="main", flavor="a"))
    asked = pod_set({"cpu": 1}, 10, min_count=3)
    [judgement] = arena.round(workload("one", local_queue="team/main", pod_sets=(asked,)))
    if want is None:
        assert isinstance(judgement.decision, Wait)
        assert judgement.decision.nominated[0].count == 10
    else:
        assert isinstance(judgement.decision, Admit)
        assert judgement.decision.pod_sets[0].count == want


def test_partial_admission_can_be_switched_off() -> None:
    arena = Arena(two(a=5), settings=Settings(partial_admission=False))
    found = flavors_of(arena, pod_set({"cpu": 1}, 10, min_count=3))
    assert isinstance(found, Wait)


def test_an_admission_tells_what_it_passed_over() -> None:
    arena = Arena(two(a=500, b=5_000))
    [judgement] = arena.round(workload("one", local_queue="team/main"))
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.note.startswith("main: insufficient quota for cpu")


def test_a_quota_of_zero_is_a_flavor_that_can_only_borrow() -> None:
    arena = Arena(
        cluster_queue(quotas={"a": {"cpu": quota(0)}}, cohort="c"),
        cluster_queue("lender", {"a": {"cpu": 2_000}}, cohort="c"),
    )
    [judgement] = arena.round(workload("one", local_queue="team/main"))
    assert isinstance(judgement.decision, Admit)
    assert judgement.decision.borrowing
