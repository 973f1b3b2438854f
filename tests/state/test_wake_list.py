"""Kueue's wake list, row by row: after which news an inadmissible workload is judged again."""

from dataclasses import replace

import pytest

from queueing.core.facts import (
    ClusterQueueFact,
    Fact,
    Gone,
    Kind,
    StopPolicy,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import PodSetName, ResourceName
from queueing.core.settings import Compatibility, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admission,
    admitted,
    assignment,
    check,
    check_rule,
    cluster_queue,
    cohort,
    condition,
    flavor,
    local_queue,
    namespace,
    pod_set,
    quota,
    workload,
)

KUEUE = Settings(compatibility=Compatibility.KUEUE)
QUOTAS = {"default": {"cpu": quota(2_000)}, "spare": {"cpu": quota(0)}, "near": {"cpu": quota(0)}}


def queue(name: str, tree: str, stop_policy: StopPolicy = StopPolicy.NONE) -> ClusterQueueFact:
    checks = (check_rule("budget"),)
    return cluster_queue(name, QUOTAS, cohort=tree, checks=checks, stop_policy=stop_policy)


HOLDER = admitted(
    "holder",
    local_queue="team/b",
    pod_sets=(pod_set(count=3),),
    admission=admission("b", assignment({"cpu": 3_000}, count=3)),
)
WAITING = workload("waiting", {"cpu": 3_000}, local_queue="team/a")
FAR = workload("far", {"cpu": 9_000}, local_queue="team/z")
OBJECTS: tuple[Fact, ...] = (
    namespace(),
    flavor(),
    flavor("spare"),
    flavor("near", topology="racks"),
    TopologyFact(name="racks", levels=("rack",)),
    check("budget"),
    cohort("pool"),
    *(queue(name, "pool") for name in "ab"),
    queue("z", "elsewhere"),
    *(local_queue(f"team/{name}", name) for name in "abz"),
    HOLDER,
    WAITING,
    FAR,
)


def released(fact: WorkloadFact) -> WorkloadFact:
    """Return an evicted workload whose pods are gone, and that may not queue yet."""
    evicted = condition("Evicted", "PodsReadyTimeout", changed=5.0)
    held = condition("Requeued", "PodsReadyTimeout", status=False, changed=5.0)
    return replace(fact, admission=None, conditions={"Evicted": evicted, "Requeued": held})


def with_condition(fact: WorkloadFact, kind: str, reason: str) -> WorkloadFact:
    return replace(fact, conditions={**fact.conditions, kind: condition(kind, reason, changed=9.0)})


ROWS = [
    pytest.param(with_condition(HOLDER, "Finished", "Succeeded"), "waiting", id="one finished"),
    pytest.param(Gone(Kind.WORKLOAD, HOLDER.key), "waiting", id="one deleted"),
    pytest.param(released(HOLDER), "waiting", id="one evicted and pending again"),
    pytest.param(
        replace(HOLDER, reclaimable={PodSetName("main"): 1}), "waiting", id="pods of one are done"
    ),
    pytest.param(
        replace(HOLDER, given={PodSetName("main"): {ResourceName("cpu"): 1}}),
        "waiting",
        id="devices of one count as less",
    ),
    pytest.param(replace(HOLDER, priority=-1), "waiting", id="the priority of one changed"),
    pytest.param(queue("new", "pool"), "waiting", id="a ClusterQueue created"),
    pytest.param(
        queue("b", "pool", stop_policy=StopPolicy.HOLD), "waiting", id="a ClusterQueue updated"
    ),
    pytest.param(
        cohort("pool", quotas=[{"default": {"cpu": quota(0)}}]), "waiting", id="a Cohort updated"
    ),
    pytest.param(cohort("under", "pool"), "waiting", id="a Cohort created"),
    pytest.param(flavor("spare", labels={"a": "b"}), "waiting far", id="a ResourceFlavor updated"),
    pytest.param(
        check("budget", controller="other"), "waiting far", id="an AdmissionCheck updated"
    ),
    pytest.param(check("budget", active=False), "", id="an AdmissionCheck is inactive"),
    pytest.param(Gone(Kind.CHECK, "budget"), "", id="an AdmissionCheck deleted"),
    pytest.param(Gone(Kind.FLAVOR, "spare"), "", id="a ResourceFlavor deleted"),
    pytest.param(replace(WAITING, admission_gates=("gate",)), "", id="its admission is gated"),
    pytest.param(
        namespace(labels={"team": "red"}), "waiting far", id="labels of its namespace changed"
    ),
    pytest.param(
        TopologyFact(name="racks", levels=("block", "rack")), "waiting far", id="a Topology updated"
    ),
    pytest.param(replace(WAITING, priority=1), "waiting", id="its own priority changed"),
    pytest.param(
        replace(WAITING, pod_sets=workload(count=4).pod_sets), "waiting", id="its own pods changed"
    ),
    pytest.param(
        with_condition(WAITING, "Requeued", "Reactivated"), "waiting", id="it was requeued"
    ),
    pytest.param(with_condition(WAITING, "Evicted", "Preempted"), "waiting", id="it was evicted"),
    pytest.param(
        replace(WAITING, reclaimable={PodSetName("main"): 0}), "waiting", id="its own pods are done"
    ),
    pytest.param(
        with_condition(WAITING, "QuotaReserved", "Pending"), "", id="the echo of its wait"
    ),
    pytest.param(with_condition(HOLDER, "PodsReady", "Started"), "", id="pods of one are ready"),
    pytest.param(
        with_condition(HOLDER, "Evicted", "Preempted"),
        "",
        id="one is told to leave and has not yet",
    ),
    pytest.param(HOLDER, "", id="nothing new"),
    pytest.param(namespace("other", {"a": "b"}), "", id="another namespace"),
    pytest.param(flavor("unused"), "", id="a ResourceFlavor that no queue names"),
]


@pytest.mark.parametrize(("news", "who"), ROWS)
def test_news_have_those_judged_again_whom_kueue_would_wake(news: Fact, who: str) -> None:
    engine = Engine(KUEUE)
    for fact in OBJECTS:
        engine.observe(fact)
    engine.round(1.0)
    assert engine.round(2.0).judged == 0
    engine.observe(news)
    assert engine.round(3.0).judged == len(who.split())


@pytest.mark.parametrize(
    ("before", "after", "who"),
    [
        pytest.param(
            Gone(Kind.FLAVOR, "spare"), flavor("spare"), "waiting far", id="a ResourceFlavor"
        ),
        pytest.param(
            Gone(Kind.CHECK, "budget"), check("budget"), "waiting far", id="an AdmissionCheck"
        ),
        pytest.param(
            Gone(Kind.CLUSTER_QUEUE, "a"), queue("a", "pool"), "waiting", id="its ClusterQueue"
        ),
        pytest.param(
            replace(WAITING, admission_gates=("gate",)), WAITING, "waiting", id="its gate opens"
        ),
    ],
)
def test_what_comes_back_has_those_judged_again_who_waited_for_it(
    before: Fact, after: Fact, who: str
) -> None:
    engine = Engine(KUEUE)
    for fact in (*OBJECTS, before):
        engine.observe(fact)
    engine.round(1.0)
    engine.round(2.0)
    engine.observe(after)
    assert engine.round(3.0).judged == len(who.split())
    assert engine.round(4.0).judged == 0


def test_who_comes_after_an_equal_that_is_set_aside_is_so_too() -> None:
    engine = Engine(KUEUE)
    for fact in OBJECTS:
        engine.observe(fact)
    engine.round(1.0)
    engine.observe(workload("equal", {"cpu": 3_000}, local_queue="team/a", created=9.0))
    assert engine.round(2.0).judged == 0
    engine.observe(workload("other", {"cpu": 2_999}, local_queue="team/a", created=9.0))
    assert engine.round(3.0).judged == 1
