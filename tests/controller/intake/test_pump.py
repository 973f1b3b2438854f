from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from typing_extensions import override

from queueing.controller.intake.admin_objects import AdminObjects
from queueing.controller.intake.pump import Pump
from queueing.controller.stores.objects import Objects
from queueing.controller.work_queues import WorkQueues
from queueing.core.facts import ClusterQueueFact, Fact, Gone, Kind, WorkloadFact
from queueing.core.names import Key, ResourceName
from queueing.kinds.jobs import DescribedJob
from queueing.kube.reflector import Added, Deleted, Modified
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.pods.view import KIND, PodJob, read_pod
from queueing.translate.labels import GATE, MANAGED, POD_WORKLOAD
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire import cluster, queues
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job


class Queues(WorkQueues):
    """Notes every key that is to be looked at."""

    def __init__(self, looks: list[str]) -> None:
        super().__init__()
        self.looks = looks

    @override
    def job(self, key: Key) -> None:
        self.looks.append(f"job {key}")

    @override
    def workload(self, key: Key) -> None:
        self.looks.append(f"workload {key}")

    @override
    def gang(self, key: Key) -> None:
        self.looks.append(f"gang {key}")


@dataclass
class Desk:
    """Everything that the pump talks to."""

    facts: list[Fact] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.objects = Objects()
        queues = Queues(self.looks)
        self.pump = Pump(self.objects, self, queues, ResourceRules())
        self.admin = AdminObjects(self.objects, self.pump, queues, self.misconfigured)

    def misconfigured(self, meta: Meta, why: str) -> None:
        self.looks.append(f"cohort {meta.name}: {why}")

    def observe(self, fact: Fact) -> bool:
        self.facts.append(fact)
        return True


def document(version: int, uid: str = "u", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "resources": {"limits": {"cpu": "1"}}}
    pod_set = {"name": "main", "template": {"spec": {"containers": [container]}}}
    return {
        "metadata": {
            "name": "w",
            "namespace": "ns",
            "uid": uid,
            "resourceVersion": str(version),
        },
        "spec": {"podSets": [pod_set], "queueName": "lq", **spec},
    }


def workload(version: int, **more: Any) -> Workload:
    return read(Workload, document(version, **more))


def test_the_watch_and_our_own_reply_are_one_piece_of_news() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    desk.pump.absorb_workload(msgspec.json.encode(document(2)))
    desk.pump.on_workload(Modified(workload(2)))
    desk.pump.on_workload(Modified(workload(1)))
    assert len(desk.facts) == 2
    assert desk.looks == ["workload ns/w"] * 2


def test_a_late_reply_does_not_bring_the_dead_back() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    desk.pump.on_workload(Deleted("ns/w", "u", None))
    desk.pump.absorb_workload(msgspec.json.encode(document(2)))
    assert desk.facts[-1] == Gone(Kind.WORKLOAD, "ns/w")
    assert not desk.objects.workloads


def test_a_late_reply_does_not_show_a_pod_again_that_the_watch_shows_no_more() -> None:
    def stored(version: int) -> bytes:
        meta = {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": str(version)}
        gates = [{"name": GATE}]
        spec = {"containers": [{"name": "c"}], "schedulingGates": gates}
        return msgspec.json.encode(
            {"metadata": {**meta, "labels": {MANAGED: "true"}}, "spec": spec}
        )

    desk = Desk()
    desk.pump.readers[KIND.group_kind] = read_pod
    desk.pump.on_job(Added(read_pod(stored(1))))
    desk.pump.on_job(Deleted("ns/p", "u", None))
    desk.pump.absorb_job(stored(2), KIND)
    (left,) = desk.objects.jobs.values()
    assert isinstance(left, PodJob)
    assert left.unseen
    desk.pump.on_job(Added(read_pod(stored(3))))
    (found,) = desk.objects.jobs.values()
    assert isinstance(found, PodJob)
    assert not found.unseen


def test_the_next_life_of_a_name_is_not_touched_by_the_end_of_the_last() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    desk.pump.on_workload(Added(workload(5, uid="v")))
    desk.pump.on_workload(Deleted("ns/w", "u", None))
    assert desk.objects.workloads[Key("ns/w")].metadata.uid == "v"


def test_while_an_outcome_is_unknown_the_engine_hears_only_the_answer() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    desk.pump.hold(Key("ns/w"))
    desk.pump.on_workload(Modified(workload(2)))
    assert len(desk.facts) == 1
    desk.pump.let_go(Key("ns/w"))
    assert len(desk.facts) == 2


def test_new_limits_are_applied_to_the_namespaces_workloads() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]}
    meta = {"name": "l", "namespace": "ns"}
    found = read(cluster.LimitRange, {"metadata": meta, "spec": limits})
    desk.pump.on_limit_range(Added(found))
    desk.pump.on_limit_range(Deleted("ns/l", "", None))
    asked = [
        fact.pod_sets[0].requests[ResourceName("cpu")]
        for fact in desk.facts
        if isinstance(fact, WorkloadFact)
    ]
    assert asked == [1000, 500, 1000]


def test_a_door_that_shuts_is_told_to_those_behind_it() -> None:
    desk = Desk()
    desk.pump.on_workload(Added(workload(1)))
    local = {"metadata": {"name": "lq", "namespace": "ns"}, "spec": {"clusterQueue": "cq"}}
    desk.admin.on_local_queue(Added(read(queues.LocalQueue, local)))
    queue = read(queues.ClusterQueue, {"metadata": {"name": "cq"}})
    desk.admin.on_cluster_queue(Added(queue))
    desk.looks.clear()
    desk.admin.on_cluster_queue(Modified(queue))
    assert desk.looks == []
    shut = {"metadata": {"name": "cq"}, "spec": {"stopPolicy": "HoldAndDrain"}}
    desk.admin.on_cluster_queue(Modified(read(queues.ClusterQueue, shut)))
    assert desk.looks == ["workload ns/w"]
    assert isinstance(desk.facts[-1], ClusterQueueFact)


def test_a_cohort_that_cannot_be_used_as_written_is_told_of_once() -> None:
    desk = Desk()
    quotas = [{"name": "cpu", "nominalQuota": "-4"}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": quotas}]}
    written = {"metadata": {"name": "pool"}, "spec": {"resourceGroups": [group]}}
    desk.admin.on_cohort(Added(read(queues.Cohort, written)))
    desk.admin.on_cohort(Modified(read(queues.Cohort, written)))
    assert len(desk.looks) == 1
    assert desk.looks[0].startswith("cohort pool: spec.resourceGroups[0]")
    assert "-4 must be greater than or equal to 0" in desk.looks[0]
    desk.admin.on_cohort(Modified(read(queues.Cohort, {"metadata": {"name": "pool"}})))
    assert len(desk.looks) == 1


POD = {"containers": [{"name": "c", "image": "i"}]}
SUSPENDED = {"conditions": [{"type": "Suspended", "status": "True"}]}


def job_event(
    version: int, *, status: Any = None, labels: Any = None, **spec: Any
) -> Added[DescribedJob]:
    meta = {"name": "j", "namespace": "ns", "uid": "j", "resourceVersion": str(version)}
    thing = {
        "metadata": meta | {"labels": labels or {}},
        "spec": {"suspend": True, "template": {"spec": POD}} | spec,
        "status": status or {},
    }
    return Added(batch_job(thing))


def test_that_a_job_is_suspended_is_no_news_before_its_first_start() -> None:
    desk = Desk()
    desk.pump.on_job(job_event(1))
    desk.pump.on_job(job_event(2, status=SUSPENDED))
    assert desk.looks == ["job ns/j"]
    assert desk.objects.jobs[Key("ns/j")].metadata.resource_version == "2"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"suspend": False}, id="it runs"),
        pytest.param({"parallelism": 2}, id="other pods"),
        pytest.param({"labels": {"queue": "other"}}, id="other labels"),
        pytest.param({"status": {"active": 1}}, id="pods"),
        pytest.param({"status": {"startTime": "2026-01-01T00:00:00Z"}}, id="it began"),
        pytest.param(
            {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}, id="it ended"
        ),
    ],
)
def test_all_else_that_changes_of_a_job_is_looked_at(change: dict[str, Any]) -> None:
    desk = Desk()
    desk.pump.on_job(job_event(1))
    desk.pump.on_job(job_event(2, **change))
    assert desk.looks == ["job ns/j", "job ns/j"]


def test_a_job_that_was_started_before_is_looked_at_when_its_controller_has_seen_its_stop() -> None:
    marked = {"metadata": {"annotations": {POD_WORKLOAD: "w"}}, "spec": POD}
    desk = Desk()
    desk.pump.on_job(job_event(1, template=marked))
    desk.pump.on_job(job_event(2, template=marked, status=SUSPENDED))
    assert desk.looks == ["job ns/j", "job ns/j"]


def test_a_job_is_not_looked_at_for_the_workload_that_was_just_made_of_it() -> None:
    desk = Desk()
    desk.pump.on_job(job_event(1))
    desk.looks.clear()
    made = document(2)
    owner = {"kind": "Job", "name": "j", "uid": "j", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    desk.pump.absorb_made(msgspec.json.encode(made))
    assert desk.looks == ["workload ns/w"]
    assert [type(one) for one in desk.facts] == [WorkloadFact]
    desk.pump.absorb_made(msgspec.json.encode(made))
    assert desk.looks == ["workload ns/w"]
    made["metadata"]["resourceVersion"] = "3"
    desk.pump.absorb_workload(msgspec.json.encode(made))
    assert desk.looks[1:] == ["workload ns/w", "job ns/j"]
