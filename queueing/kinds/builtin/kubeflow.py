"""The kinds of Kubeflow that have replicas by type: MPIJob, and those of the training operator."""

from queueing.kinds.frameworks import Framework
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

_STATUSES = "object.?status.replicaStatuses.orValue({})"


def _resource(kind: str, version: str) -> KindResource:
    plural = f"{kind.lower()}s"
    return KindResource(group="kubeflow.org", version=version, kind=kind, plural=plural)


def _spec(
    resource: KindResource,
    *,
    replicas: str,
    types: list[str],
    controller: str,
    first_index: str | None = None,
) -> QueueableKindSpec:
    return QueueableKindSpec(
        resource=resource,
        suspend=Suspension(field="spec.runPolicy.suspend"),
        pod_sets=[
            PodSetRule(
                for_each=f"spec.{replicas}",
                keys=types,
                name_from="key",
                count="item.?replicas",
                template="template",
                topology=PodIndexes(
                    pod_index_label="training.kubeflow.org/replica-index", first_index=first_index
                ),
            )
        ],
        active=StateRule(
            expression=f"{_STATUSES}.exists(type, {_STATUSES}[type].?active.orValue(0) != 0)"
        ),
        ready=StateRule(condition="Running"),
        finished=[
            EndRule(condition="Succeeded", outcome="Succeeded"),
            EndRule(condition="Failed", outcome="Failed"),
        ],
        priority_class="spec.runPolicy.schedulingPolicy.priorityClass",
        managed_by=ManagedByRule(field="spec.runPolicy.managedBy", controller=controller),
    )


def _training(kind: str, replicas: str, *types: str) -> QueueableKindSpec:
    controller = "kubeflow.org/training-operator"
    resource = _resource(kind, "v1")
    return _spec(resource, replicas=replicas, types=list(types), controller=controller)


MPI_JOB = _spec(
    _resource("MPIJob", "v2beta1"),
    replicas="mpiReplicaSpecs",
    types=["Launcher", "Worker"],
    controller="kubeflow.org/mpi-operator",
    # The launcher is number 0 then.
    first_index='key == "Worker" && object.spec.?runLauncherAsWorker.orValue(false)'
    " && object.spec.mpiReplicaSpecs.?Launcher.hasValue() ? 1 : 0",
)
PYTORCH_JOB = _training("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker")
TF_JOB = _training("TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator")
_MX = ("Scheduler", "Server", "Worker", "TunerTracker", "TunerServer", "Tuner")
# Operators that have this kind do not know `managedBy`.
MX_JOB = _training("MXJob", "mxReplicaSpecs", *_MX).model_copy(update={"managed_by": None})
XGBOOST_JOB = _training("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker")
PADDLE_JOB = _training("PaddleJob", "paddleReplicaSpecs", "Master", "Worker")
JAX_JOB = _training("JAXJob", "jaxReplicaSpecs", "Worker")

FRAMEWORKS = (
    Framework(name="kubeflow.org/jaxjob", spec=JAX_JOB, prebuilt=False),
    Framework(name="kubeflow.org/mxjob", spec=MX_JOB),
    Framework(name="kubeflow.org/paddlejob", spec=PADDLE_JOB),
    Framework(name="kubeflow.org/pytorchjob", spec=PYTORCH_JOB),
    Framework(name="kubeflow.org/tfjob", spec=TF_JOB),
    Framework(name="kubeflow.org/xgboostjob", spec=XGBOOST_JOB),
    Framework(name="kubeflow.org/mpijob", spec=MPI_JOB),
)
