"""JobSet: a pod set for each replicated job, of all its Jobs together."""

from queueing.kinds.frameworks import Framework
from queueing.kinds.pod_sets import COUNT_MAX
from queueing.translate.jobs.pod_sets import JOB_INDEX
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    ManagedByRule,
    PodIndexes,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

_REPLICAS = "item.?replicas.orValue(1)"
_PARALLELISM = "item.template.spec.?parallelism.orValue(1)"
_COMPLETIONS = f"item.template.spec.?completions.orValue({COUNT_MAX})"
_PODS = f"({_COMPLETIONS} < {_PARALLELISM} ? {_COMPLETIONS} : {_PARALLELISM})"
STATUSES = "object.?status.replicatedJobsStatus.orValue([])"

SPEC = QueueableKindSpec(
    resource=KindResource(
        group="jobset.x-k8s.io", version="v1alpha2", kind="JobSet", plural="jobsets"
    ),
    suspend=Suspension(field="spec.suspend"),
    pod_sets=[
        PodSetRule(
            for_each="spec.replicatedJobs",
            name_from="item.name",
            count=f"{_REPLICAS} * {_PODS}",
            template="template.spec.template",
            reclaimable=(
                f"{STATUSES}.filter(s, s.name == item.name && s.?succeeded.orValue(0) > 0"
                f" && s.succeeded <= {_REPLICAS}).map(s, s.succeeded * count / {_REPLICAS}).sum()"
            ),
            topology=PodIndexes(
                pod_index_label=JOB_INDEX,
                sub_group_index_label="jobset.sigs.k8s.io/job-index",
                sub_group_count=_REPLICAS,
            ),
        )
    ],
    active=StateRule(expression=f"{STATUSES}.exists(s, s.?active.orValue(0) > 0)"),
    ready=StateRule(
        expression=f"{STATUSES}.map(s, s.?ready.orValue(0) + s.?succeeded.orValue(0)).sum()"
        " == object.spec.replicatedJobs.map(j, j.?replicas.orValue(1)).sum()"
    ),
    finished=[
        EndRule(condition="Completed", outcome="Succeeded"),
        EndRule(condition="Failed", outcome="Failed"),
    ],
    managed_by=ManagedByRule(
        field="spec.managedBy", controller="jobset.sigs.k8s.io/jobset-controller"
    ),
)
FRAMEWORKS = (Framework(name="jobset.x-k8s.io/jobset", spec=SPEC),)
