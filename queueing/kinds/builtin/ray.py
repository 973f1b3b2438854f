"""RayCluster, RayJob and RayService: a head and groups of workers."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from queueing.kinds.builtin import ray_pods
from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, Seen
from queueing.kinds.paths import ABSENT, Document, put, steps
from queueing.kinds.pod_sets import PodSet
from queueing.kinds.starting import inject, restore
from queueing.translate.jobs.injection import Injection, Original
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    ManagedByRule,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

_MANAGED_BY = ManagedByRule(field="spec.managedBy", controller="ray.io/kuberay-operator")
_JOB_CLUSTER, _SERVICE_CLUSTER = "spec.rayClusterSpec", "spec.rayClusterConfig"
_SUBMITTER = "spec.submitterPodTemplate"
_HOSTS = "item.?numOfHosts.orValue(1)"
_MODE = 'object.spec.?submissionMode.orValue("")'
_DEPLOYMENT = 'object.?status.jobDeploymentStatus.orValue("")'


def _resource(kind: str) -> KindResource:
    return KindResource(group="ray.io", version="v1", kind=kind, plural=f"{kind.lower()}s")


def cluster_pod_sets(cluster: str) -> list[PodSetRule]:
    """Return the pod sets of the cluster that is described at a path."""
    return [
        PodSetRule(name=ray_pods.HEAD, template=f"{cluster}.headGroupSpec.template"),
        PodSetRule(
            for_each=f"{cluster}.workerGroupSpecs",
            name_from="item.groupName",
            count=f"item.?replicas.orValue(1) * ({_HOSTS} > 1 ? {_HOSTS} : 1)",
            template="template",
        ),
    ]


RAY_CLUSTER = QueueableKindSpec(
    resource=_resource("RayCluster"),
    suspend=Suspension(field="spec.suspend"),
    pod_sets=cluster_pod_sets("spec"),
    active=StateRule(expression='object.?status.state.orValue("") == "ready"'),
    ready=StateRule(expression='object.?status.state.orValue("") == "ready"'),
    managed_by=_MANAGED_BY,
)
RAY_JOB = QueueableKindSpec(
    resource=_resource("RayJob"),
    suspend=Suspension(field="spec.suspend"),
    pod_sets=[
        *cluster_pod_sets(_JOB_CLUSTER),
        PodSetRule(name=ray_pods.SUBMITTER, when=f'{_MODE} == "K8sJobMode"', template=_SUBMITTER),
    ],
    active=StateRule(expression=f'!({_DEPLOYMENT} in ["", "Suspended"])'),
    ready=StateRule(expression='object.?status.rayClusterStatus.state.orValue("") == "ready"'),
    finished=[
        EndRule(
            expression=f'{_DEPLOYMENT} in ["Complete", "Failed"]',
            succeeded='object.?status.jobStatus.orValue("") == "SUCCEEDED"',
            message="object.?status.message",
        )
    ],
    ignored="size(object.spec.?clusterSelector.orValue({})) > 0",
    on_hold=f'{_DEPLOYMENT} == "ValidationFailed"',
    managed_by=_MANAGED_BY,
)
RAY_SERVICE = QueueableKindSpec(
    resource=_resource("RayService"),
    suspend=Suspension(field=f"{_SERVICE_CLUSTER}.suspend"),
    pod_sets=cluster_pod_sets(_SERVICE_CLUSTER),
    active=StateRule(condition="Ready"),
    ready=StateRule(condition="Ready"),
    managed_by=_MANAGED_BY,
)


def _of_cluster(cluster: str) -> Hooks:
    return Hooks(
        reads=ray_pods.reads(cluster),
        pod_sets=lambda job, found: ray_pods.with_sidecars(job, found, cluster),
    )


def _submits(pod_set: PodSet) -> bool:
    """Say whether a pod set is what submits the job: a group of workers may have its name."""
    return pod_set.rule.rule.name == ray_pods.SUBMITTER


def job_pod_sets(job: Seen, found: Sequence[PodSet]) -> list[PodSet]:
    """Return the pod sets of a RayJob, with what submits it."""
    changed = ray_pods.with_sidecars(job, found, _JOB_CLUSTER)
    if job.value("spec.submissionMode") == "SidecarMode":
        changed[0] = ray_pods.with_submitter(changed[0])
    if _submits(changed[-1]) and job.value(_SUBMITTER) is ABSENT:
        made = msgspec.Raw(msgspec.json.encode(ray_pods.submitter(changed[0])))
        changed[-1] = replace(changed[-1], template=made)
    return changed


def start_job(job: Seen, document: Document, added: Sequence[Injection]) -> None:
    """Add to the pods of a RayJob; the template that submits it is written if it has none."""
    for pod_set, one in zip(job.pod_sets, added, strict=True):
        if _submits(pod_set) and job.value(_SUBMITTER) is ABSENT:
            spec = document["spec"]
            spec["submitterPodTemplate"] = msgspec.json.decode(pod_set.template)
        inject(document, pod_set.places, one)


def undo_job(job: Seen, document: Document, originals: Sequence[Original]) -> None:
    """Restore the pods of a RayJob; a template that submits it goes if the start wrote it."""
    for pod_set, original in zip(job.pod_sets, originals, strict=True):
        restore(document, pod_set, original)
        if _submits(pod_set) and ray_pods.is_made(original.template):
            put(document, steps(_SUBMITTER), ABSENT)


HOOKS_OF_JOB = Hooks(
    reads=(*ray_pods.reads(_JOB_CLUSTER), "spec.submissionMode"),
    pod_sets=job_pod_sets,
    start=start_job,
    undo=undo_job,
)
FRAMEWORKS = (
    Framework(name="ray.io/raycluster", spec=RAY_CLUSTER, hooks=_of_cluster("spec"), elastic=True),
    Framework(name="ray.io/rayjob", spec=RAY_JOB, hooks=HOOKS_OF_JOB, elastic=True),
    Framework(
        name="ray.io/rayservice",
        spec=RAY_SERVICE,
        hooks=_of_cluster(_SERVICE_CLUSTER),
        elastic=True,
    ),
)
