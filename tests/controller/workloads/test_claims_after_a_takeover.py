"""The leader is lost while victims leave: whoever waits for that keeps its place under the next."""

from tests.controller.gangs.gang_harness import conditions, gang_world
from tests.controller.harness import KUEUE, Wire, false, job, true

PREEMPTING = {"withinClusterQueue": "LowerPriority"}
DRAIN_S = 400
"""Simulated seconds for which a victim's pods go on: eight real ones."""
WAITING = "WaitingForPreemptedWorkloads"


def queue(name: str, cpu: str) -> tuple[Wire, Wire]:
    """Return a ClusterQueue of the cohort, and the LocalQueue before it."""
    flavor = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    spec = {
        "cohortName": "family",
        "namespaceSelector": {},
        "preemption": PREEMPTING,
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
    }
    return (
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"clusterQueue": name},
        },
    )


QUEUES = (*queue("own", "7"), *queue("borrows", "0"))


def workload(name: str, to: str, cpu: str, priority: int = 0) -> Wire:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    pods = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "queueName": to,
            "priority": priority,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": pods}}],
        },
    }


def victim() -> Wire:
    """Return a Job that takes its time to stop."""
    made = job("victim", "6", seconds=60_000)
    template = made["spec"]["template"]
    template["metadata"]["annotations"]["queueing.dev/simulate-drain-seconds"] = str(DRAIN_S)
    template["spec"]["terminationGracePeriodSeconds"] = DRAIN_S
    made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "own"
    return made


async def test_who_waits_for_victims_of_another_keeps_its_place_under_the_next_leader(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, *QUEUES) as w:
        await w.make(victim())
        await w.workload("victim", true("PodsReady"))
        await w.make(workload("preemptor", "own", "3", priority=2))
        await w.until("Workload", "preemptor", false("QuotaReserved", WAITING))
        await w.workload("victim", true("Preempted"))
        await w.make(workload("beside", "own", "4", priority=1))
        await w.until("Workload", "beside", false("QuotaReserved", WAITING))
        await w.stop()
        await w.make(workload("late", "borrows", "1"))
        await w.restart()
        await w.until("Workload", "late", false("QuotaReserved", "WaitingForQuota"))
        leaves = await w.workload("victim", true("QuotaReserved"))
        assert "Preempted" in conditions(leaves), "it had not left when the next leader decided"
        for name in ("preemptor", "beside"):
            await w.until("Workload", name, true("Admitted"))
        await w.until("Workload", "late", false("QuotaReserved"))


async def test_a_preemptor_says_that_it_waits_before_its_victim_is_evicted(
    definitions: list[Wire],
) -> None:
    async with gang_world(definitions, *QUEUES) as w:
        await w.make(victim())
        await w.workload("victim", true("PodsReady"))
        name = (await w.workload("victim", true("Admitted")))["metadata"]["name"]
        began = len(w.writes)
        await w.make(workload("preemptor", "own", "3", priority=2))
        await w.workload("victim", true("Preempted"))
        told = [one.rpartition("workloads/")[2] for one in w.writes[began:]]
        statuses = [one for one in told if one in {"preemptor/status", f"{name}/status"}]
        assert statuses[:2] == ["preemptor/status", f"{name}/status"]
