"""Victims of equal rank in a plan: by the policies and Checkpoints in the input."""

from typing import Any

import pytest
import yaml

from queueing.core.decisions import Preempt
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import Intake, read_world
from queueing.sim.plan import fixed_rounds, until_stable

NOW = 1_767_225_600.0
Wire = dict[str, Any]
QUEUE: list[Wire] = [
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "any"},
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority"},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [
                        {"name": "any", "resources": [{"name": "cpu", "nominalQuota": "2"}]}
                    ],
                }
            ],
        },
    },
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "lq", "namespace": "team"},
        "spec": {"clusterQueue": "cq"},
    },
]


def workload(name: str, priority: int = 0, since: str = "", **metadata: Any) -> Wire:
    """Return a Workload of one cpu: pending, or running since some minute of the last hour."""
    template = {
        "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
    }
    made: Wire = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team", "uid": name, **metadata},
        "spec": {
            "queueName": "lq",
            "priority": priority,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": template}}],
        },
    }
    if since:
        stamp = {"status": "True", "reason": "R", "message": "", "lastTransitionTime": since}
        made["status"] = {
            "admission": {
                "clusterQueue": "cq",
                "podSetAssignments": [
                    {
                        "name": "main",
                        "count": 1,
                        "flavors": {"cpu": "any"},
                        "resourceUsage": {"cpu": "1"},
                    }
                ],
            },
            "conditions": [{"type": kind, **stamp} for kind in ("QuotaReserved", "Admitted")],
        }
    return made


EARLY, LATE = "2025-12-31T23:10:00Z", "2025-12-31T23:50:00Z"
OWNER = [{"apiVersion": "batch/v1", "kind": "Job", "name": "early", "uid": "j"}]
RUNNING = [workload("early", since=EARLY, ownerReferences=OWNER), workload("late", since=LATE)]
URGENT = workload("urgent", priority=9)


def policy(**spec: Any) -> Wire:
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CheckpointPolicy",
        "metadata": {"name": "save", "namespace": "team"},
        "spec": {"driver": "Annotation", "saveDeadline": "1m", **spec},
    }


def job(**annotations: str) -> Wire:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "early",
            "namespace": "team",
            "uid": "j",
            "labels": {"kueue.x-k8s.io/queue-name": "lq"},
            "annotations": annotations,
        },
        "spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}},
        "status": {"active": 1},
    }


def checkpoint(epoch: int) -> Wire:
    """Return a request that saved nothing."""
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "Checkpoint",
        "metadata": {"name": f"early-{epoch}", "namespace": "team"},
        "spec": {
            "workload": {"name": "early", "uid": "early"},
            "requestID": f"r{epoch}",
            "epoch": epoch,
            "reason": "Preempted",
            "policy": "team/save",
            "terms": {"driver": "Annotation"},
            "requestedAt": EARLY,
            "ackBy": EARLY,
            "saveBy": EARLY,
        },
        "status": {"phase": "Requeued", "outcome": "Failed"},
    }


NAMED = {"queueing.dev/checkpoint-policy": "save"}
QUEUES_POLICY = {"queueing.dev/checkpoint-policy": "team/save"}


def world(
    *more: Wire, compatibility: Compatibility = Compatibility.QUEUEING, annotated: bool = False
) -> Intake:
    queue = [{**one, "metadata": {**one["metadata"]}} for one in QUEUE]
    if annotated:
        queue[1]["metadata"]["annotations"] = QUEUES_POLICY
    text = yaml.safe_dump_all([*queue, *RUNNING, URGENT, *more])
    return read_world(parse(text, file="x.yaml"), now=NOW, compatibility=compatibility)


def victims(found: Intake) -> list[str]:
    plan = fixed_rounds(found.facts, settings=found.settings, now=NOW, rounds=1)
    return [one.workload for decided in plan.rounds for one in decided if isinstance(one, Preempt)]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param([], "late", id="no policy: the one admitted last"),
        pytest.param([policy()], "late", id="a policy that nobody names"),
        pytest.param([policy(), job(**NAMED)], "early", id="the one that saves first"),
        pytest.param([policy(), job()], "late", id="a Job that names none"),
        pytest.param(
            [policy(), job(**NAMED), checkpoint(1), checkpoint(2)],
            "late",
            id="one that failed to save, twice",
        ),
        pytest.param(
            [policy(), job(**NAMED), checkpoint(1)], "early", id="one that failed to save once"
        ),
    ],
)
def test_of_equals_the_one_goes_whose_stop_costs_least(given: list[Wire], want: str) -> None:
    found = world(*given)
    assert victims(found) == [f"team/{want}"]
    assert found.warnings == ()


def test_a_plan_in_kueues_words_weighs_nothing() -> None:
    found = world(policy(), job(**NAMED), compatibility=Compatibility.KUEUE)
    assert victims(found) == ["team/late"]


def test_a_minimum_runtime_that_the_queue_grants_protects_who_has_just_begun() -> None:
    found = world(policy(minimumRuntime="20m"), annotated=True)
    assert victims(found) == ["team/early"]


def test_a_policy_that_cannot_be_used_is_told() -> None:
    found = world(policy(driver="Exec", exec={"command": ["save"]}), job(**NAMED))
    assert victims(found) == ["team/late"]
    assert [one for one in found.warnings if "checkpointDrivers" in one] == list(found.warnings)
    missing = world(policy(), job(**{"queueing.dev/checkpoint-policy": "other"}))
    assert "CheckpointPolicy team/other is not there" in missing.warnings


def test_a_plan_that_goes_on_until_stable_comes_to_rest() -> None:
    found = world(policy(), annotated=True)
    assert until_stable(found.facts, settings=found.settings, now=NOW).stable
