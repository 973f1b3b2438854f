from datetime import datetime

import msgspec
import pytest

from queueing.core.settings import Compatibility
from queueing.kube.resources import JOBS
from tests.controller.harness import (
    CLOCK,
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    Wire,
    cluster_queue,
    false,
    job,
    true,
)


def suspended(one: Wire) -> bool:
    return one["spec"]["suspend"] is True


def unsuspended(one: Wire) -> bool:
    return one["spec"]["suspend"] is False


async def test_a_job_is_admitted_runs_and_frees_its_quota(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a"))
        running = await w.until("Job", "a", unsuspended)
        pods = running["spec"]["template"]
        assert pods["spec"]["nodeSelector"] == {"disk": "ssd", "pool": "any"}
        assert pods["spec"]["tolerations"] == [{"key": "t", "operator": "Exists"}]
        assert pods["metadata"]["labels"]["kueue.x-k8s.io/cluster-queue-name"] == "cq"
        await w.workload("a", true("PodsReady"))
        # That pods are ready is not told of a Job that has ended meanwhile: so it ends only now.
        (pod,) = await w.list("Pod")
        await w.patch("Pod", pod["metadata"]["name"], {"status": {"phase": "Succeeded"}}, "status")
        done = await w.workload("a", true("Finished", "Succeeded"))
        assert true("PodsReady")(done)
        await w.workload("a", lambda one: not one["metadata"].get("finalizers"))
        await w.until(
            "ClusterQueue", "cq", lambda one: one.get("status", {}).get("reservingWorkloads") == 0
        )


async def test_the_preempted_job_comes_back_with_its_own_template(world: MakeWorld) -> None:
    high = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    async with world() as w:
        queue = cluster_queue("1", preemption={"withinClusterQueue": "LowerPriority"})
        reply = await w.client.create(JOBS.within("team"), job("low"))
        before = msgspec.json.decode(reply)["spec"]["template"]
        await w.make(FLAVOR, queue, LOCAL_QUEUE, high)
        await w.until("Job", "low", lambda one: one.get("status", {}).get("active") == 1)
        await w.make(job("urgent", labels={"kueue.x-k8s.io/priority-class": "high"}))
        victim = await w.workload("low", false("QuotaReserved"))
        assert true("Requeued", "Preempted")(victim)
        stopped = await w.until("Job", "low", suspended)
        assert stopped["spec"]["template"] == before
        await w.finish("urgent")
        await w.workload("urgent", true("Finished"))
        await w.until("Job", "low", unsuspended)


async def test_a_job_waits_with_a_reason_until_its_queue_appears(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(job("a"))
        await w.workload("a", false("QuotaReserved"))
        await w.make(LOCAL_QUEUE)
        await w.make(cluster_queue())
        await w.until("ClusterQueue", "cq", false("Active", "FlavorNotFound"))
        await w.make(FLAVOR)
        await w.until("Job", "a", unsuspended)
        await w.until("LocalQueue", "lq", true("Active", "Ready"))


async def test_a_job_of_which_no_workload_can_be_made_says_why(world: MakeWorld) -> None:
    """As older than the rule that refuses it: no webhook answers here."""
    async with world() as w:
        await w.make(job("a", labels={"kueue.x-k8s.io/queue-name": "Team_A"}))
        told = await w.event("spec.queueName")
        assert (told["regarding"]["name"], told["reason"]) == ("a", "ErrWorkloadCompose")


async def test_jobs_alike_all_say_why_they_wait(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("first"))
        await w.until("Job", "first", unsuspended)
        await w.make(job("second"), job("third"))
        for name in ("second", "third"):
            await w.workload(name, false("QuotaReserved"))


async def test_a_job_that_was_never_admitted_is_stopped(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("first"))
        await w.until("Job", "first", unsuspended)
        await w.make(job("pushy", suspend=False))
        await w.until("Job", "pushy", suspended)
        assert not true("Admitted")(await w.workload("pushy", lambda _: True))


async def test_parallelism_may_be_edited_while_the_job_waits(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, job("a", parallelism=3))
        await w.workload("a", lambda one: one["spec"]["podSets"][0]["count"] == 3)
        await w.patch("Job", "a", {"spec": {"parallelism": 2}})
        await w.workload("a", lambda one: one["spec"]["podSets"][0]["count"] == 2)
        await w.until("Job", "a", unsuspended)


async def test_a_waiting_job_may_change_its_queue(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
        await w.make(job("a", labels={"kueue.x-k8s.io/queue-name": "nowhere"}))
        await w.workload("a", lambda one: one["spec"]["queueName"] == "nowhere")
        await w.patch("Job", "a", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq"}}})
        await w.until("Job", "a", unsuspended)


async def test_a_gated_job_waits_until_its_gate_is_taken_off(world: MakeWorld) -> None:
    gate = "kueue.x-k8s.io/admission-gated-by"
    async with world() as w:
        gated = job("a")
        gated["metadata"]["annotations"][gate] = "example.com/approval"
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, gated)
        await w.workload("a", false("QuotaReserved", "AdmissionGated"))
        await w.patch("Job", "a", {"metadata": {"annotations": {gate: None}}})
        await w.until("Job", "a", unsuspended)


async def test_a_job_deleted_while_it_runs_leaves_nothing(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
        name = (await w.workload("a", true("PodsReady")))["metadata"]["name"]
        await w.make(job("b"))
        await w.delete("Job", "a")
        await w.until_gone("Workload", name)
        await w.until("Job", "b", unsuspended)


def unbound(one: Wire) -> bool:
    """Say whether nothing holds an object, and no other object takes it along."""
    return not (one["metadata"].get("finalizers") or one["metadata"].get("ownerReferences"))


@pytest.mark.parametrize("compatibility", Compatibility)
async def test_the_workload_of_a_job_that_left_it_behind_ends_and_stays(
    world: MakeWorld, compatibility: Compatibility
) -> None:
    async with world(compatibility=compatibility) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
        name = (await w.workload("a", true("PodsReady")))["metadata"]["name"]
        await w.make(job("b"))
        await w.delete("Job", "a", policy="Orphan")
        await w.until("Job", "b", unsuspended)
        left = await w.until("Workload", name, unbound)
        assert true("Finished", "OwnerNotFound")(left)


async def test_the_record_of_a_job_that_left_it_behind_goes_when_its_retention_is_over(
    world: MakeWorld,
) -> None:
    async with world(objectRetentionPolicies={"workloads": {"afterFinished": "0s"}}) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
        name = (await w.workload("a", true("PodsReady")))["metadata"]["name"]
        await w.delete("Job", "a", policy="Orphan")
        await w.until_gone("Workload", name)


async def test_the_record_of_a_finished_job_that_left_it_behind_stays(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a", seconds=1))
        name = (await w.workload("a", true("Finished", "Succeeded")))["metadata"]["name"]
        await w.delete("Job", "a", policy="Orphan")
        free = await w.until("Workload", name, unbound)
        assert true("Finished", "Succeeded")(free)


async def test_a_workload_deleted_under_a_running_job_is_made_anew(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
        found = await w.workload("a", true("PodsReady"))
        await w.delete("Workload", found["metadata"]["name"])
        uid = found["metadata"]["uid"]
        await w.workload("a", lambda one: one["metadata"]["uid"] != uid and true("Admitted")(one))
        await w.until("Job", "a", unsuspended)


async def test_deactivation_stops_and_reactivation_queues_again(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
        name = (await w.workload("a", true("PodsReady")))["metadata"]["name"]
        await w.patch("Workload", name, {"spec": {"active": False}})
        await w.until("Workload", name, false("QuotaReserved", "Deactivated"))
        await w.until("Job", "a", suspended)
        await w.patch("Workload", name, {"spec": {"active": True}})
        await w.until("Workload", name, true("Admitted"))
        await w.until("Job", "a", unsuspended)


def is_of_an_earlier_second(one: Wire) -> bool:
    """Say whether what is created now is newer, as far as timestamps tell."""
    created = datetime.fromisoformat(one["metadata"]["creationTimestamp"])
    return CLOCK.now() >= created.timestamp() + 1


@pytest.mark.parametrize("compatibility", Compatibility)
async def test_what_a_queue_drained_returns_before_those_that_waited_already(
    world: MakeWorld, compatibility: Compatibility
) -> None:
    async with world(compatibility=compatibility) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("older"))
        await w.workload("older", true("PodsReady"))
        await w.workload("older", is_of_an_earlier_second)  # its Workload decides, not its Job
        await w.make(job("newer"))
        await w.workload("newer", false("QuotaReserved"))
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "HoldAndDrain"}})
        await w.workload("older", false("QuotaReserved", "OnHold"))
        await w.patch("ClusterQueue", "cq", {"spec": {"stopPolicy": "None"}})
        await w.workload("older", true("Admitted"))
        assert suspended(await w.get("Job", "newer"))


async def test_a_check_is_waited_for_and_adds_to_the_pods(world: MakeWorld) -> None:
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "ac"},
        "spec": {"controllerName": "example.com/c"},
    }
    active = [
        {
            "type": "Active",
            "status": "True",
            "reason": "Active",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
    async with world() as w:
        strategy = {"admissionChecks": [{"name": "ac"}]}
        await w.make(check, FLAVOR, cluster_queue(admissionChecksStrategy=strategy), LOCAL_QUEUE)
        await w.patch("AdmissionCheck", "ac", {"status": {"conditions": active}}, "status")
        await w.make(job("a"))
        found = await w.workload("a", true("QuotaReserved"))
        assert not true("Admitted")(found)
        both = {"admissionChecks": [{"name": "ac"}, {"name": "late"}]}
        await w.patch("ClusterQueue", "cq", {"spec": {"admissionChecksStrategy": both}})
        await w.workload("a", lambda one: len(one["status"]["admissionChecks"]) == 2)
        await w.patch("ClusterQueue", "cq", {"spec": {"admissionChecksStrategy": strategy}})
        await w.workload("a", lambda one: len(one["status"]["admissionChecks"]) == 1)
        state = {
            "name": "ac",
            "state": "Ready",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "message": "",
            "podSetUpdates": [{"name": "main", "labels": {"booked": "yes"}}],
        }
        name = found["metadata"]["name"]
        await w.patch("Workload", name, {"status": {"admissionChecks": [state]}}, "status")
        running = await w.until("Job", "a", unsuspended)
        assert running["spec"]["template"]["metadata"]["labels"]["booked"] == "yes"


async def test_a_job_that_contradicts_its_flavor_never_starts(world: MakeWorld) -> None:
    async with world() as w:
        conflicting = job("a")
        conflicting["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "mine"
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, conflicting)
        await w.workload("a", true("Finished", "FailedToStart"))
        await w.until("Job", "a", suspended)


async def test_pods_that_never_get_ready_send_the_workload_back(world: MakeWorld) -> None:
    impatient = {
        "timeout": "100ms",
        "requeuingStrategy": {"backoffBaseSeconds": 0, "backoffLimitCount": 0},
    }
    async with world(waitForPodsReady=impatient) as w:
        too_big = job("a")
        too_big["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "none"}
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, too_big)
        found = await w.workload("a", false("QuotaReserved", "Deactivated"))
        assert true("Evicted", "DeactivatedDueToRequeuingLimitExceeded")(found)
        assert false("PodsReady", "WaitForStart")(found)
        await w.until("Job", "a", suspended)


async def test_a_job_that_waits_and_its_workload_say_why_in_events(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE, job("a", cpu="3"))
        found = await w.workload("a", false("QuotaReserved", "ExceedsMaxQuota"))
        workload = found["metadata"]["name"]
        expected = {("a", "Suspended"), ("a", "ExceedsMaxQuota"), (workload, "ExceedsMaxQuota")}

        async def look() -> bool | None:
            told = {(one["regarding"]["name"], one["reason"]) for one in await w.list("Event")}
            return True if told >= expected else None

        assert await w.found(look), await w.list("Event")


async def test_a_check_that_a_queue_names_stays(world: MakeWorld) -> None:
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "ac"},
        "spec": {"controllerName": "example.com/c"},
    }
    held = "kueue.x-k8s.io/resource-in-use"
    async with world() as w:
        await w.make(
            check, cluster_queue(admissionChecksStrategy={"admissionChecks": [{"name": "ac"}]})
        )
        await w.until(
            "AdmissionCheck", "ac", lambda one: held in one["metadata"].get("finalizers", [])
        )
        await w.delete("AdmissionCheck", "ac")
        await w.patch("ClusterQueue", "cq", {"spec": {"admissionChecksStrategy": None}})
        await w.until_gone("AdmissionCheck", "ac")


async def test_queues_and_flavors_in_use_stay_until_they_are_free(world: MakeWorld) -> None:
    async with world() as w:
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("a", seconds=600))
        await w.workload("a", true("Admitted"))
        held = "kueue.x-k8s.io/resource-in-use"
        for kind, name in (("ClusterQueue", "cq"), ("ResourceFlavor", "default")):
            await w.until(kind, name, lambda one: held in one["metadata"].get("finalizers", []))
            await w.delete(kind, name)
        await w.until("ClusterQueue", "cq", false("Active", "Terminating"))
        await w.delete("Job", "a")
        await w.until_gone("ClusterQueue", "cq")
        await w.until_gone("ResourceFlavor", "default")
