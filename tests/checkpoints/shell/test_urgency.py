"""How long whoever needs the room waits, and what the engine is told of who would have to go."""

from typing import Any

import msgspec
import pytest

from queueing.checkpoints.rules.terms import Driver, OnFailure, Terms
from queueing.checkpoints.shell.effective_terms import stake_of, terms_of_stop
from queueing.checkpoints.shell.urgency import patience
from queueing.checkpoints.wire.objects import CheckpointPolicy
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.core.stakes import Stake
from queueing.translate.wire.queues import ClusterQueue, LocalQueue, WorkloadPriorityClass
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.checkpoints.shell.save_harness import POLICY, checkpoint, objects, phase, saving, urgent
from tests.controller.harness import MakeWorld, true

TERMS = Terms(driver=Driver.ANNOTATION, grace_s=60)
AT = "2026-01-01T00:00:00Z"
AT_S = NOW = 1_767_225_600.0


def condition(kind: str, reason: str, message: str = "", at: str = AT) -> dict[str, Any]:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": at,
    }


def workload(name: str, *conditions: dict[str, Any], **spec: Any) -> Workload:
    meta = {"name": name, "namespace": "team", "uid": f"uid-{name}", "resourceVersion": "1"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"job-{name}"}
    made = {
        "metadata": {**meta, "ownerReferences": [{**owner, "controller": True}]},
        "spec": {"queueName": "lq", **spec},
        "status": {"conditions": conditions, "admission": {"clusterQueue": "cq"}},
    }
    return msgspec.convert(made, Workload)


def surroundings(
    wait: str | None = None, grace: str | None = None, policy: str = ""
) -> tuple[Objects, Workload]:
    """Return a preemptor of a class, in a queue, and what is known around it."""
    found = Objects()
    notes = {} if wait is None else {"queueing.dev/max-preemption-wait": wait}
    quick = {"metadata": {"name": "quick", "annotations": notes}, "value": 9}
    found.workload_priority_classes["quick"] = msgspec.convert(quick, WorkloadPriorityClass)
    marks = {} if grace is None else {"queueing.dev/reclaim-grace": grace}
    marks |= {POLICY: policy} if policy else {}
    queue = {"metadata": {"name": "cq", "annotations": marks}}
    found.cluster_queues["cq"] = msgspec.convert(queue, ClusterQueue)
    local = {"metadata": {"name": "lq", "namespace": "team"}, "spec": {"clusterQueue": "cq"}}
    found.local_queues[Key("team/lq")] = msgspec.convert(local, LocalQueue)
    preemptor = workload("p", priorityClassRef={"name": "quick"})
    found.put_workload(preemptor)
    return found, preemptor


def victim(reason: str) -> Workload:
    said = "Preempted to accommodate a workload (UID: uid-p, JobUID: j) due to x"
    return workload("v", condition("Evicted", "Preempted"), condition("Preempted", reason, said))


@pytest.mark.parametrize(
    ("wait", "grace", "reason", "want"),
    [
        pytest.param(None, None, "InClusterQueue", None, id="nobody is in a hurry"),
        pytest.param("5m", None, "InClusterQueue", 240.0, id="the class, less the grace"),
        pytest.param("0s", None, "InClusterQueue", 0.0, id="a class that does not wait"),
        pytest.param("0s", None, "Moved", None, id="nobody hurries one that is only moved"),
        pytest.param("30s", None, "InClusterQueue", 0.0, id="less than the grace"),
        pytest.param(None, None, "InCohortReclamation", 120.0, id="reclaim waits two minutes"),
        pytest.param(None, "10m", "InCohortReclamation", 600.0, id="or what the queue says"),
        pytest.param("2m", "10m", "InCohortReclamation", 60.0, id="the shorter of both"),
        pytest.param(None, "10s", "InCohortFairSharing", None, id="fairness has time"),
        pytest.param("soon", None, "InClusterQueue", None, id="a wait that is none"),
        pytest.param(None, "-1m", "InCohortReclamation", 120.0, id="a grace that is none"),
    ],
)
def test_the_shortest_patience_counts(
    wait: str | None, grace: str | None, reason: str, want: float | None
) -> None:
    found, _ = surroundings(wait, grace)
    assert patience(found, victim(reason), TERMS, NOW) == want


def test_a_preemptor_that_is_gone_leaves_what_reclaim_grants() -> None:
    assert patience(Objects(), victim("InCohortReclamation"), TERMS, NOW) == 120.0
    drained = workload("v", condition("Evicted", "ClusterQueueStopped"))
    assert patience(Objects(), drained, TERMS, NOW) is None


def test_what_is_at_stake_is_read_from_policy_and_conditions() -> None:
    found, _ = surroundings()
    running = workload(
        "v",
        condition("QuotaReserved", "QuotaReserved"),
        condition("Admitted", "Admitted"),
        condition("PodsReady", "Started", at="2026-01-01T00:00:40Z"),
    )
    job = {
        "metadata": {
            "name": "v",
            "namespace": "team",
            "uid": "job-v",
            "annotations": {POLICY: "save"},
        },
        "spec": {"template": {}},
    }
    found.put_job(batch_job(job))
    assert stake_of(found, running) is None, "nobody says how it saves"
    policy = {
        "metadata": {"name": "save", "namespace": "team"},
        "spec": {"driver": "Annotation", "minimumRuntime": "1h"},
    }
    found.checkpoints.policies[Key("team/save")] = msgspec.convert(policy, CheckpointPolicy)
    want = Stake(saves=True, started=AT_S, save_s=300, restart_s=40, minimum_runtime_s=0)
    assert stake_of(found, running) == want, "a tenant grants itself no runtime"
    found.cluster_queues.update(surroundings(policy="team/save")[0].cluster_queues)
    granted = stake_of(found, running)
    assert granted is not None
    assert granted.minimum_runtime_s == 3600
    assert stake_of(found, workload("v")) is None, "it holds nothing"


async def test_a_class_that_does_not_wait_has_its_victim_stopped_at_once(
    world: MakeWorld,
) -> None:
    async with world() as at:
        await at.make(*objects())
        note = {"queueing.dev/max-preemption-wait": "0s"}
        await at.patch("WorkloadPriorityClass", "urgent", {"metadata": {"annotations": note}})
        await at.make(saving())
        await at.until("Job", "train", lambda one: one.get("status", {}).get("active", 0) > 0)
        await at.make(urgent())
        await at.workload("urgent", true("Admitted"))
        found = await checkpoint(at, phase("Requeued"))
        assert found["status"]["outcome"] == "NotAsked"
        assert "asked" not in found["status"]
        assert found["spec"]["saveBy"] == found["spec"]["requestedAt"]


@pytest.mark.parametrize(
    ("reason", "want"),
    [("InClusterQueue", OnFailure.PROCEED), ("Moved", OnFailure.ABORT)],
)
def test_who_is_only_moved_stays_unless_it_saves(reason: str, want: OnFailure) -> None:
    assert terms_of_stop(TERMS, victim(reason)).on_failure is want
