"""The trace of a workload that waits for an admission check, on the real control plane."""

import time
from collections.abc import Callable

import pytest

from e2e.jobs import running, wait_job, wait_workload
from e2e.kinds import KUEUE
from e2e.monitoring.collector import collecting, covered_s
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World
from queueing.translate.times import moment, timestamp

SUBMITTER = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = SUBMITTER.split("-")[1]
APART_S, APART = 2.0, 0.05
"""By how much the sum of the spans may differ from the wall time."""
IN_A_ROW = {
    "queued", "status write", "admission checks", "unsuspend", "pods scheduled", "pods ready",
}  # fmt: skip
CHECKED_S = 3.0
"""How long the check takes."""


def _is_asked(one: Object) -> bool:
    return bool(one.get("status", {}).get("admissionChecks"))


def test_a_trace_tells_of_checks_and_its_spans_are_the_wall_time(
    space: World, controllers: Callable[..., Controller], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = space.name("check")
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        controllers("checked")
        space.make(_check(check))
        active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
        status = {"conditions": [{**active, "lastTransitionTime": timestamp(time.time())}]}
        space.api.patch("AdmissionCheck", check, {"status": status}, subresource="status")
        queue = cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "4"}})
        queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": check}]}
        traced = job(space.namespace, "traced", queue="door", pods=Pods(cpu="1", run_s=None))
        traced["metadata"]["annotations"] = {"traceparent": SUBMITTER}
        space.make(
            flavor(space.name("any"), nodeLabels=POOL),
            queue,
            local_queue(space.namespace, "door", space.name("cq")),
            traced,
        )
        asked = wait_workload(space, "traced", _is_asked, "asked")
        time.sleep(CHECKED_S)  # the check takes its time: what is tested is that it is told
        _answer(space, asked, check)
        wait_job(space, "traced", running, "running")
        until(lambda: "admission" in {one.name for one in collector.of(TRACE)}, "it is exported")
        row = [one for one in collector.of(TRACE) if one.name in IN_A_ROW]
    assert {one.name for one in row} == IN_A_ROW
    (checked,) = (one for one in row if one.name == "admission checks")
    assert covered_s([checked]) >= CHECKED_S - 1
    found = space.api.get("Workload", asked["metadata"]["name"], space.namespace)
    ready = next(one for one in found["status"]["conditions"] if one["type"] == "PodsReady")
    created = space.api.get("Job", "traced", space.namespace)["metadata"]["creationTimestamp"]
    wall_s = moment(ready["lastTransitionTime"]) - moment(created)
    assert abs(covered_s(row) - wall_s) <= max(APART_S, APART * wall_s)
    (whole,) = (one for one in collector.of(TRACE) if one.name == "admission")
    variable = {"name": "TRACEPARENT", "value": f"00-{TRACE}-{whole.span_id.hex()}-01"}
    for pod in space.api.items("Pod", space.namespace):
        for container in pod["spec"]["containers"]:
            assert variable in container["env"]


def _check(name: str) -> Object:
    spec = {"controllerName": "example.com/slow"}
    return {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": spec}


def _answer(space: World, workload: Object, check: str) -> None:
    """Say that the check is Ready."""
    ready: Object = {"name": check, "state": "Ready", "message": "", "podSetUpdates": []}
    ready["lastTransitionTime"] = timestamp(time.time())
    name, status = workload["metadata"]["name"], {"status": {"admissionChecks": [ready]}}
    space.api.patch("Workload", name, status, namespace=space.namespace, subresource="status")
