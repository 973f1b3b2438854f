from dataclasses import replace

import pytest

from queueing.core.devices import DeviceAsk
from queueing.core.facts import PodSet
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName
from queueing.core.settings import Settings
from queueing.core.usage import demand_of, held_usage, holder_of
from queueing.testing.builders import admission, admitted, assignment, pod_set, workload

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
MAIN = PodSetName("main")


def test_what_is_held_is_summed_over_pod_sets() -> None:
    held = admitted(
        admission=admission(
            "main", assignment({"cpu": 2}, name="driver"), assignment({"cpu": 3}, name="workers")
        )
    )
    assert held_usage(held) == {CPU: 5}


@pytest.mark.parametrize(
    ("asked", "given", "reclaimable", "want"),
    [
        pytest.param(4, 4, 0, 8, id="nothing reclaimable"),
        pytest.param(4, 4, 1, 6, id="one pod of four has ended"),
        pytest.param(4, 4, 9, 0, id="more than there were"),
        pytest.param(6, 4, 2, 8, id="admitted without the two that had ended before"),
        pytest.param(6, 4, 3, 6, id="and one more has ended since"),
        pytest.param(4, 0, 1, 8, id="an admission of no pods cannot be divided"),
        pytest.param(3, 3, 2, 3, id="what does not divide is rounded up"),
    ],
)
def test_pods_that_ended_hold_nothing(asked: int, given: int, reclaimable: int, want: int) -> None:
    held = admitted(
        pod_sets=(pod_set(count=asked),),
        admission=admission("main", assignment({"cpu": 8}, count=given)),
        reclaimable={MAIN: reclaimable},
    )
    assert held_usage(held) == {CPU: want}


@pytest.mark.parametrize(
    ("reclaimable", "flavor", "want"),
    [
        pytest.param(3, "default", 8, id="as long as one pod runs"),
        pytest.param(4, "default", 0, id="until all have ended"),
        pytest.param(3, "other", 2, id="only where they share one"),
    ],
)
def test_a_claim_of_all_pods_is_held_by_each_of_them(
    reclaimable: int, flavor: str, want: int
) -> None:
    undivided = frozenset({FlavorName(flavor)})
    ask = DeviceAsk(resource=ResourceName("cpu"), shape="shared", undivided=undivided)
    held = admitted(
        pod_sets=(replace(pod_set(count=4), devices=(ask,)),),
        admission=admission("main", assignment({"cpu": 8}, count=4)),
        reclaimable={MAIN: reclaimable},
    )
    assert held_usage(held) == {CPU: want}


@pytest.mark.parametrize(
    ("given", "reclaimable", "want"),
    [
        pytest.param({MAIN: {ResourceName("cpu"): 5}}, 0, 5, id="less was given"),
        pytest.param({MAIN: {ResourceName("cpu"): 9}}, 0, 8, id="never more than admitted"),
        pytest.param({MAIN: {ResourceName("cpu"): 5}}, 1, 5, id="also when one has ended"),
        pytest.param({MAIN: {ResourceName("cpu"): 5}}, 3, 2, id="but not for those that ended"),
        pytest.param({MAIN: {ResourceName("memory"): 1}}, 0, 8, id="of another resource"),
        pytest.param({PodSetName("other"): {ResourceName("cpu"): 1}}, 0, 8, id="of other pods"),
    ],
)
def test_devices_are_charged_as_they_were_given(
    given: dict[PodSetName, dict[ResourceName, int]], reclaimable: int, want: int
) -> None:
    held = admitted(
        pod_sets=(pod_set(count=4),),
        admission=admission("main", assignment({"cpu": 8}, count=4)),
        reclaimable={MAIN: reclaimable},
    )
    assert held_usage(replace(held, given=given)) == {CPU: want}


def test_equal_workloads_have_equal_shapes_whatever_their_names() -> None:
    one, two = demand_of(workload("one")), demand_of(workload("two", created=5.0))
    assert one.shape == two.shape
    assert hash(one.shape) == hash(two.shape)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(pod_set({"cpu": 2_000}), id="requests"),
        pytest.param(pod_set(count=2), id="count"),
        pytest.param(pod_set(min_count=1), id="minimum count"),
        pytest.param(pod_set(node_selector={"zone": "a"}), id="selector"),
        pytest.param(pod_set(shape="another template"), id="template"),
        pytest.param(pod_set(group="g"), id="group"),
    ],
)
def test_whatever_a_decision_depends_on_makes_another_shape(other: PodSet) -> None:
    plain = demand_of(workload())
    assert demand_of(workload(pod_sets=(other,))).shape != plain.shape


def test_a_holder_reads_the_status() -> None:
    holder = holder_of(admitted("x", {"cpu": 3}, created=7.0, priority=4), Settings())
    assert (holder.queue, holder.priority, holder.reserved_at) == ("main", 4, 7.0)
    assert holder.usage == {CPU: 3}


def test_a_workload_that_holds_nothing_is_no_holder() -> None:
    with pytest.raises(ValueError, match="holds no quota"):
        holder_of(workload(), Settings())


def test_what_saves_for_a_workload_is_charged_on_top() -> None:
    gpu = FlavorResource(FlavorName("default"), ResourceName("gpu"))
    held = admitted(admission=admission("main", assignment({"cpu": 2})))
    assert held_usage(replace(held, beside={CPU: 1, gpu: 3})) == {CPU: 3, gpu: 3}
    assert held_usage(replace(held, beside={CPU: 1}, admission=None)) == {}
