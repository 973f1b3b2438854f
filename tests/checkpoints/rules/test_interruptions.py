import pytest

from queueing.checkpoints.rules.interruptions import (
    Interruption,
    NodeTaint,
    interruption,
    time_to_save,
)
from queueing.checkpoints.wire.nodes import message, named_in

NOW = 1_000.0
OURS = "queueing.dev/interruption"
SPOT = "aws-node-termination-handler/spot-itn"
LOST = "node.kubernetes.io/unreachable"


@pytest.mark.parametrize(
    ("taints", "want"),
    [
        pytest.param([], None, id="no taint"),
        pytest.param([NodeTaint("dedicated", "gpu")], None, id="a taint that ends nothing"),
        pytest.param([NodeTaint(OURS)], Interruption(OURS), id="ours, without a time"),
        pytest.param([NodeTaint(OURS, "1300")], Interruption(OURS, 1300), id="ours, with one"),
        pytest.param([NodeTaint(OURS, "soon")], Interruption(OURS), id="a time that is none"),
        pytest.param([NodeTaint(OURS, "9" * 99)], Interruption(OURS), id="an endless time"),
        pytest.param([NodeTaint(SPOT)], Interruption(SPOT, NOW + 120), id="spot, from when seen"),
        pytest.param(
            [NodeTaint(SPOT, added=NOW - 30)], Interruption(SPOT, NOW + 90), id="spot, since then"
        ),
        pytest.param([NodeTaint(LOST, effect="NoSchedule")], None, id="lost, but not for pods"),
        pytest.param(
            [NodeTaint(LOST, effect="NoExecute", added=NOW)],
            Interruption(LOST, NOW + 300),
            id="lost",
        ),
        pytest.param(
            [NodeTaint(OURS), NodeTaint(SPOT)], Interruption(SPOT, NOW + 120), id="the soonest"
        ),
    ],
)
def test_a_taint_tells_until_when_pods_run(
    taints: list[NodeTaint], want: Interruption | None
) -> None:
    assert interruption(taints, NOW) == want
    assert interruption(taints[::-1], NOW) == want


@pytest.mark.parametrize(
    ("until", "want"),
    [
        pytest.param(NOW + 120, 60.0, id="what the grace leaves"),
        pytest.param(NOW + 70, 35.0, id="at least half"),
        pytest.param(NOW - 5, 0.0, id="nothing is left"),
    ],
)
def test_the_grace_that_is_left_is_shared_with_the_end(until: float, want: float) -> None:
    assert time_to_save(until, 60.0, NOW) == want


@pytest.mark.parametrize("until", [None, 1_767_225_600.0])
def test_an_eviction_names_its_node_so_that_any_replica_knows(until: float | None) -> None:
    text = message("gpu-7.example", Interruption(SPOT, until))
    assert named_in(text) == ("gpu-7.example", until)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        pytest.param("The ClusterQueue is stopped", "", id="another eviction"),
        pytest.param("Node n goes away (taint t) by noon", "n", id="a time that is none"),
    ],
)
def test_other_messages_tell_of_no_time(text: str, node: str) -> None:
    assert named_in(text) == (node, None)
