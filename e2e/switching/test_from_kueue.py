"""A cluster that Kueue ran is taken over: nothing restarts, nothing changes, what waits goes on."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

from e2e.api import condition, holds
from e2e.jobs import running, wait_job
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.switching import kueue
from e2e.wire import Object
from e2e.world import World

Launch = Callable[..., Controller]
CHECKS = "kueue.x-k8s.io/v1beta2/AdmissionCheck"


@dataclass(frozen=True, slots=True)
class Inherited:
    """Jobs in every state, as Kueue left them, in a queue that is full."""

    space: World

    @property
    def queue(self) -> str:
        return self.space.name("cq")

    @property
    def checked(self) -> str:
        return self.space.name("checked")

    @property
    def flavor(self) -> str:
        return self.space.name("any")

    def make(self) -> None:
        space = self.space
        held = {"finalizers": [kueue.IN_USE]}
        any_flavor = flavor(self.flavor, nodeLabels=POOL, tolerations=[kueue.TOLERATION])
        queue = cluster_queue(self.queue, {self.flavor: {"cpu": "2"}})
        strategy = {"admissionChecks": [{"name": space.name("budget")}]}
        checked = cluster_queue(
            self.checked, {self.flavor: {"cpu": "1"}}, admissionChecksStrategy=strategy
        )
        for one in (any_flavor, queue, checked):
            one["metadata"] |= held
        self._make_check()
        space.make(any_flavor, queue, checked)
        space.make(local_queue(space.namespace, "team", self.queue))
        space.make(local_queue(space.namespace, "checked", self.checked))
        self._running("running", pods=2)
        self._waiting_for_a_check("reserved")
        self._pending("pending")

    def workload(self, name: str) -> Object:
        space = self.space
        found = space.api.get("Job", name, space.namespace)
        return space.api.get("Workload", kueue.workload_name(found), space.namespace)

    def _make_check(self) -> None:
        name = self.space.name("budget")
        check = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "AdmissionCheck",
            "metadata": {"name": name},
            "spec": {"controllerName": "example.com/budget"},
        }
        self.space.make(check)
        active = kueue.conditions(("Active", True, "Active", "The admission check is active"))
        change = {"status": {"conditions": active}}
        self.space.api.patch("AdmissionCheck", name, change, subresource="status")

    def _job(self, name: str, pods: int = 1, queue: str = "team") -> tuple[Object, Object]:
        space = self.space
        wanted = job(space.namespace, name, queue=queue, parallelism=pods, pods=Pods(run_s=None))
        made = kueue.write(space.api, "POST", wanted, "kubectl-create")
        workload = kueue.write(space.api, "POST", kueue.compose(made, queue), kueue.MANAGER)
        return made, workload

    def _running(self, name: str, pods: int) -> None:
        api = self.space.api
        made, workload = self._job(name, pods)
        status = {
            "admission": kueue.reservation(workload, self.queue, self.flavor, str(pods)),
            "conditions": kueue.conditions(kueue.reserved(self.queue), kueue.ADMITTED),
        }
        kueue.apply_status(api, workload, status, kueue.ADMISSION)
        kueue.unsuspend(api, made, workload, (self.queue, "team"))
        wait_job(self.space, name, running, "running under Kueue")
        ready = {"conditions": kueue.conditions(kueue.READY)}
        kueue.apply_status(api, workload, ready, kueue.JOBS)

    def _waiting_for_a_check(self, name: str) -> None:
        _, workload = self._job(name, queue="checked")
        reserved = kueue.conditions(kueue.reserved(self.checked))
        check = {
            "name": self.space.name("budget"),
            "state": "Pending",
            "lastTransitionTime": reserved[0]["lastTransitionTime"],
            "message": "",
        }
        status = {
            "admission": kueue.reservation(workload, self.checked, self.flavor, "1"),
            "admissionChecks": [check],
            "conditions": reserved,
        }
        kueue.apply_status(self.space.api, workload, status, kueue.ADMISSION)

    def _pending(self, name: str) -> None:
        _, workload = self._job(name)
        message = "couldn't assign flavors to pod set main: insufficient unused quota"
        waits = kueue.conditions(("QuotaReserved", False, "Pending", message))
        kueue.apply_status(self.space.api, workload, {"conditions": waits}, kueue.ADMISSION)


def pods_of(space: World, name: str) -> list[str]:
    found = space.api.items("Pod", space.namespace, labels=f"batch.kubernetes.io/job-name={name}")
    return sorted(one["metadata"]["uid"] for one in found)


def told(workload: Object) -> list[tuple[str, str, str]]:
    """Return the conditions that an admission consists of, with their times."""
    kinds = ("QuotaReserved", "Admitted", "PodsReady")
    found = ((kind, condition(workload, kind)) for kind in kinds)
    return [(kind, one["status"], one["lastTransitionTime"]) for kind, one in found if one]


def test_what_kueue_runs_goes_on_and_what_waits_is_admitted_by_us(
    space: World, controllers: Launch
) -> None:
    kueue.hold_lease(space.api, kueue.HOLDER)
    left = Inherited(space)
    left.make()
    template = left.workload("running")["spec"]["podSets"][0]["template"]
    names = ("running", "reserved", "pending")
    jobs = {name: space.api.get("Job", name, space.namespace) for name in names}
    workloads = {name: left.workload(name) for name in names}
    pods = pods_of(space, "running")
    kueue.hold_lease(space.api, "")

    controllers("successor")
    space.api.wait_one(
        "ClusterQueue",
        left.queue,
        lambda one: (
            one.get("status", {}).get("admittedWorkloads") == 1
            and one["status"].get("pendingWorkloads") == 1
        ),
        what="one admitted, one pending, as Kueue left them",
    )
    space.api.wait_one(
        "ClusterQueue",
        left.checked,
        lambda one: (
            one.get("status", {}).get("reservingWorkloads") == 1
            and one["status"].get("admittedWorkloads", 0) == 0
        ),
        what="one reserving, as Kueue left it",
    )
    for name in ("running", "reserved"):
        now, before = left.workload(name), workloads[name]
        assert now["status"]["admission"] == before["status"]["admission"]
        assert told(now) == told(before)
        assert now["metadata"]["finalizers"] == [kueue.IN_USE]
    for name in names:
        found = space.api.get("Job", name, space.namespace)
        assert found["spec"] == jobs[name]["spec"], "the Job is untouched"
        assert len(space.api.items("Workload", space.namespace)) == len(names)

    ready = copy.deepcopy(left.workload("reserved")["status"]["admissionChecks"])
    ready[0] |= {"state": "Ready", "message": "there is money"}
    kueue.apply_status(
        space.api, left.workload("reserved"), {"admissionChecks": ready}, "budget-controller"
    )
    wait_job(space, "reserved", running, "its check is ready: admitted and running")
    nominal = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
    space.api.patch("ClusterQueue", left.queue, [{"op": "replace", "path": nominal, "value": "3"}])
    wait_job(space, "pending", running, "pending goes on")
    assert pods_of(space, "running") == pods, "no pod was restarted"

    # What Kueue injected is taken out again when the Job must stop.
    name = left.workload("running")["metadata"]["name"]
    space.api.patch("Workload", name, {"spec": {"active": False}}, namespace=space.namespace)
    stopped = wait_job(
        space,
        "running",
        lambda one: (
            one["spec"]["suspend"] and not one["spec"]["template"]["spec"].get("tolerations")
        ),
        "suspended, its template put right",
    )
    own = stopped["spec"]["template"]
    assert own["spec"]["nodeSelector"] == template["spec"]["nodeSelector"]
    assert "kueue.x-k8s.io/podset" not in own["metadata"].get("labels", {})
    for one in ("reserved", "pending"):
        space.api.delete("Job", one, space.namespace)
    wait_nothing_held(space.api, space.namespace, [left.queue, left.checked])


def test_while_kueue_leads_nothing_is_written(space: World, controllers: Launch) -> None:
    kueue.hold_lease(space.api, kueue.HOLDER)
    left = Inherited(space)
    left.make()
    before = left.workload("pending")["metadata"]["resourceVersion"]
    try:
        assert controllers("successor").ready(), "it stands by"
        assert left.workload("pending")["metadata"]["resourceVersion"] == before
        assert not space.api.get("ClusterQueue", left.queue).get("status")
    finally:
        kueue.hold_lease(space.api, "")
    space.api.wait_one(
        "Workload",
        left.workload("pending")["metadata"]["name"],
        lambda one: one["metadata"]["resourceVersion"] != before,
        namespace=space.namespace,
        what="we lead now",
    )
    assert not holds(left.workload("pending"), "QuotaReserved")
