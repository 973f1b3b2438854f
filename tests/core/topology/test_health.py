"""When a node fails the pods of a workload."""

import pytest

from queueing.core.selectors import Taint, Toleration
from queueing.core.topology.health import KUEUE_HEALTH, HealthRules, NodeHealth, verdict

NOW = 1_000.0
FINE = NodeHealth(ready=True, since=0.0)
SILENT = NodeHealth(ready=False, since=NOW - 5)
SILENT_LONG = NodeHealth(ready=False, since=NOW - 30)
AT_ONCE = HealthRules(awaits_pods=False)
BY_TIME = HealthRules(gives_up=True)
BLIND = HealthRules(heeds_taints=False)
BROKEN = Taint(key="broken", value="", effect="NoExecute")
FULL = Taint(key="full", value="", effect="PreferNoSchedule")
ALWAYS = Toleration(key="broken", operator="Exists", value="", effect="")
A_WHILE = Toleration(
    key="broken", operator="Exists", value="", effect="NoExecute", toleration_seconds=60
)


def tainted(taint: Taint) -> NodeHealth:
    return NodeHealth(ready=True, since=0.0, taints=(taint,))


@pytest.mark.parametrize(
    ("node", "rules", "runs", "fails"),
    [
        pytest.param(None, KUEUE_HEALTH, True, True, id="a node that is gone"),
        pytest.param(FINE, KUEUE_HEALTH, False, False, id="a node that is ready, without pods"),
        pytest.param(SILENT, KUEUE_HEALTH, True, False, id="not ready, and a pod runs"),
        pytest.param(SILENT, KUEUE_HEALTH, False, True, id="not ready, and no pod runs"),
        pytest.param(SILENT_LONG, KUEUE_HEALTH, True, False, id="not ready for long, a pod runs"),
        pytest.param(SILENT, AT_ONCE, False, None, id="not ready for a moment, whatever pods do"),
        pytest.param(SILENT_LONG, AT_ONCE, True, True, id="not ready for 30 s, whatever pods do"),
        pytest.param(SILENT, BY_TIME, True, False, id="by time: not ready for a moment"),
        pytest.param(SILENT_LONG, BY_TIME, True, True, id="by time: not ready for 30 s"),
        pytest.param(tainted(BROKEN), KUEUE_HEALTH, True, False, id="tainted, and a pod runs"),
        pytest.param(tainted(BROKEN), KUEUE_HEALTH, False, True, id="tainted, and no pod runs"),
        pytest.param(tainted(BROKEN), AT_ONCE, True, True, id="tainted, whatever pods do"),
        pytest.param(tainted(BROKEN), BLIND, False, False, id="tainted, and taints do not count"),
        pytest.param(tainted(FULL), KUEUE_HEALTH, False, False, id="a taint that only prefers"),
    ],
)
def test_a_node_fails_when_its_pods_can_no_longer_run(
    node: NodeHealth | None, rules: HealthRules, *, runs: bool, fails: bool | None
) -> None:
    assert verdict(node, [()], rules, runs=runs, now=NOW).fails is fails


@pytest.mark.parametrize(
    ("tolerations", "fails"),
    [
        pytest.param([(ALWAYS,)], False, id="tolerated for good"),
        pytest.param([(A_WHILE,)], True, id="tolerated for a while only"),
        pytest.param([(ALWAYS,), ()], True, id="not tolerated by one of two pod sets"),
    ],
)
def test_a_taint_counts_as_far_as_the_pods_do_not_tolerate_it(
    tolerations: list[tuple[Toleration, ...]], *, fails: bool
) -> None:
    found = verdict(tainted(BROKEN), tolerations, KUEUE_HEALTH, runs=False, now=NOW)
    assert found.fails is fails


def test_pods_that_wait_for_a_failing_node_are_ended_and_those_of_a_good_one_are_not() -> None:
    ends = [
        verdict(one, [()], KUEUE_HEALTH, runs=False, now=NOW).ends_waiting
        for one in (SILENT, tainted(BROKEN), FINE)
    ]
    assert ends == [True, True, False]


def test_a_node_that_is_given_time_is_looked_at_again_when_it_is_over() -> None:
    found = verdict(SILENT, [()], AT_ONCE, runs=True, now=NOW)
    assert found.look_again_at == SILENT.since + 30
