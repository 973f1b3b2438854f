"""A term without an API server, for tests of metrics: facts in, metrics out."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec

from queueing.controller.intake.admin_objects import AdminObjects
from queueing.controller.intake.pump import Pump
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.work_queues import Unattended
from queueing.core.settings import AdmissionFairSharing, FairSharing, Settings
from queueing.kube.reflector import Added, Modified
from queueing.observe.metric_rows import MetricGroup, ReplicaRole
from queueing.observe.metrics import Metrics
from queueing.state.engine import Engine
from queueing.translate.inbound.manifests import read
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire import cluster, queues
from queueing.translate.wire.workloads import Workload

NOW = 1_767_225_700.0
MADE, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:07Z"
SETTINGS = Settings(
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)),
    admission_fair_sharing=AdmissionFairSharing(half_life_s=3600.0),
)
Wire = dict[str, Any]


def cohort(name: str, parent: str = "") -> Wire:
    return {"metadata": {"name": name}, "spec": {"parentName": parent}}


def cluster_queue(name: str, cpu: str = "4", *, cohort: str = "team", **quota: str) -> Wire:
    resource = {"name": "cpu", "nominalQuota": cpu, **quota}
    flavors = [{"name": "any", "resources": [resource]}]
    spec = {
        "cohortName": cohort,
        "namespaceSelector": {},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
        "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
    }
    return {"metadata": {"name": name}, "spec": spec}


def local_queue(name: str, queue: str) -> Wire:
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"clusterQueue": queue}}


def condition(kind: str, status: str = "True", reason: str = "R", since: str = MADE) -> Wire:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": since}


def workload(name: str, cpu: str, *conditions: Wire, queue: str = "door", held: str = "") -> Wire:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    usage = {"name": "main", "count": 1, "flavors": {"cpu": "any"}, "resourceUsage": {"cpu": cpu}}
    admission = {"clusterQueue": held, "podSetAssignments": [usage]} if held else None
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": name, "creationTimestamp": MADE},
        "spec": {"queueName": queue, "podSets": [pod_set]},
        "status": {"conditions": list(conditions), "admission": admission},
    }


RESERVED, ADMITTED = condition("QuotaReserved"), condition("Admitted")
RUNNING = workload("runs", "6", RESERVED, ADMITTED, held="cq")


@dataclass
class Desk:
    """A term without an API server: facts in, metrics out."""

    metrics: Metrics = field(default_factory=lambda: Metrics(ReplicaRole.LEADER, MetricGroup))
    version: int = 0

    def __post_init__(self) -> None:
        self.objects, self.engine = Objects(), Engine(SETTINGS)
        nobody = Unattended()
        self.pump = Pump(self.objects, self.engine, nobody, ResourceRules())
        self.admin = AdminObjects(self.objects, self.pump, nobody)
        self.reporter = Reporter(metrics=self.metrics, now=lambda: NOW, fair=True)
        self.reporter.synced(self.objects, self.engine)
        space = {"metadata": {"name": "ns"}}
        self.admin.on_namespace(Added(read(cluster.Namespace, space)))
        self.admin.on_flavor(Added(read(queues.ResourceFlavor, {"metadata": {"name": "any"}})))
        self.admin.on_cohort(Added(read(queues.Cohort, cohort("team", "all"))))
        self.admin.on_cohort(Added(read(queues.Cohort, cohort("all"))))
        limits = {"borrowingLimit": "3", "lendingLimit": "1500m"}
        self.admin.on_cluster_queue(Added(read(queues.ClusterQueue, cluster_queue("cq", **limits))))
        self.admin.on_cluster_queue(Added(read(queues.ClusterQueue, cluster_queue("other"))))
        self.admin.on_local_queue(Added(read(queues.LocalQueue, local_queue("door", "cq"))))

    def hear(self, *found: Wire) -> None:
        for one in found:
            self.version += 1
            one["metadata"]["resourceVersion"] = str(self.version)
            self.pump.on_workload(Modified(msgspec.convert(one, Workload, strict=False)))

    def shown(self, *, cycle: bool = True) -> str:
        if cycle:
            self.reporter.judged(self.engine.cycle(NOW), 0.01)
        self.reporter.changed(self.engine.changed())
        return asyncio.run(self.reporter.expose()).body.decode()


def line(name: str, value: float, /, **labels: str) -> str:
    spelled = sorted({**labels, "replica_role": "leader"}.items())
    inside = ",".join(f'{key}="{one}"' for key, one in spelled)
    return f"kueue_{name}{{{inside}}} {value}"


QUEUE = {"cluster_queue": "cq"}
DOOR = {"name": "door", "namespace": "ns"}
CPU = {"flavor": "any", "resource": "cpu"}
IN_TEAM = {**QUEUE, "cohort": "team", **CPU}
