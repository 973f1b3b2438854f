from typing import Any

import pytest

from queueing.core.admissibility import applying_checks, inactivity
from queueing.core.decisions import Reason, Requeue
from queueing.core.facts import (
    CheckPhase,
    ClusterQueueFact,
    NamespaceFact,
    StopPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.names import FlavorName
from queueing.core.nomination import refusal
from queueing.core.selectors import Requirement, Selector
from queueing.testing.builders import (
    assignment,
    check,
    check_rule,
    check_state,
    cluster_queue,
    flavor,
    namespace,
    workload,
)

TEAMS = Selector((Requirement(key="team", operator="Exists"),))
BY_NAME = Selector(
    (Requirement(key="kubernetes.io/metadata.name", operator="In", values=("team",)),)
)


def why_inactive(queue: ClusterQueueFact, **world: Any) -> tuple[str, str] | None:
    flavors = world.get("flavors", [flavor("default")])
    checks = world.get("checks", [])
    return inactivity(
        queue,
        flavors={one.name: one for one in flavors},
        checks={one.name: one for one in checks},
        topologies={},
        cyclic=world.get("cyclic", False),
    )


CHECKED = cluster_queue(checks=(check_rule("one"), check_rule("two")))


@pytest.mark.parametrize(
    ("queue", "world", "want"),
    [
        pytest.param(cluster_queue(), {}, None, id="active"),
        pytest.param(
            cluster_queue(deleting=True),
            {},
            ("Terminating", "Can't admit new workloads; clusterQueue is terminating"),
            id="being deleted",
        ),
        pytest.param(
            cluster_queue(stop_policy=StopPolicy.HOLD),
            {"flavors": []},
            (
                "Stopped",
                (
                    "Can't admit new workloads: is stopped, "
                    "references missing ResourceFlavor(s): default."
                ),
            ),
            id="the first reason names it, all are listed",
        ),
        pytest.param(
            CHECKED,
            {"checks": [check("two", active=False)]},
            (
                "AdmissionCheckNotFound",
                (
                    "Can't admit new workloads: references missing AdmissionCheck(s): one, "
                    "references inactive AdmissionCheck(s): two."
                ),
            ),
            id="checks missing and inactive",
        ),
        pytest.param(
            cluster_queue(),
            {"flavors": [flavor("default", topology="racks")]},
            (
                "TopologyNotFound",
                (
                    "Can't admit new workloads: "
                    'there is no Topology "racks" for TAS flavor "default".'
                ),
            ),
            id="a flavor without its topology",
        ),
        pytest.param(
            cluster_queue(cohort="c"),
            {"cyclic": True},
            (
                "Unknown",
                "Can't admit new workloads: its Cohort is part of a cycle of Cohorts.",
            ),
            id="a cycle of cohorts",
        ),
    ],
)
def test_whether_a_queue_is_active(
    queue: ClusterQueueFact, world: dict[str, Any], want: tuple[str, str] | None
) -> None:
    assert why_inactive(queue, **world) == want


@pytest.mark.parametrize(
    ("queue", "head", "space", "want"),
    [
        pytest.param(cluster_queue(), workload(), namespace(), None, id="nothing in the way"),
        pytest.param(
            cluster_queue(),
            workload(checks=(check_state(state=CheckPhase.RETRY),)),
            namespace(),
            Reason.PENDING_EVALUATION,
            id="a check that sent it back",
        ),
        pytest.param(
            cluster_queue(namespace_selector=None),
            workload(),
            namespace(),
            Reason.MISCONFIGURED,
            id="no selector matches no namespace",
        ),
        pytest.param(
            cluster_queue(namespace_selector=TEAMS),
            workload(),
            namespace(),
            Reason.MISCONFIGURED,
            id="another namespace",
        ),
        pytest.param(
            cluster_queue(namespace_selector=TEAMS),
            workload(),
            namespace(labels={"team": "x"}),
            None,
            id="a namespace that the selector matches",
        ),
        pytest.param(
            cluster_queue(namespace_selector=BY_NAME),
            workload(),
            None,
            None,
            id="an unknown namespace has its name label",
        ),
        pytest.param(
            cluster_queue(),
            workload(misconfigured="requests exceed limits"),
            namespace(),
            Reason.MISCONFIGURED,
            id="a workload that can never run",
        ),
    ],
)
def test_what_is_refused_before_it_is_judged(
    queue: ClusterQueueFact, head: WorkloadFact, space: NamespaceFact | None, want: Reason | None
) -> None:
    got = refusal(head, queue, {} if space is None else {space.name: space})
    assert (None if got is None else got.reason) is want


def test_a_strict_queue_keeps_a_refused_head_but_not_one_of_a_foreign_namespace() -> None:
    strict = cluster_queue(strategy=Strategy.STRICT_FIFO)
    broken = refusal(workload(misconfigured="broken"), strict, {})
    closed = cluster_queue(strategy=Strategy.STRICT_FIFO, namespace_selector=None)
    foreign = refusal(workload(), closed, {})
    assert broken is not None
    assert foreign is not None
    assert (broken.requeue, foreign.requeue) == (Requeue.IMMEDIATE, Requeue.INADMISSIBLE)


def test_checks_apply_by_flavor() -> None:
    queue = cluster_queue(
        checks=(check_rule("all"), check_rule("gpu", "gpu"), check_rule("cpu", "default"))
    )
    assert applying_checks(queue, (assignment(),)) == ("all", "cpu")
    assert FlavorName("gpu") not in assignment().flavors.values()
