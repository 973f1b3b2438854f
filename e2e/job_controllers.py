"""Controllers of other kinds of jobs, beside a test cluster as their projects install them.

Their definitions are those of their modules. The webhooks of JobSet are called by URL, as no
Service leads to a process of this machine; those of Kubeflow only validate, and are not called.
Pods of the whole cluster are held up while JobSet's controller is away, so that it needs a control
plane for itself.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controlplane.controllers import JOBSET, MPI, TRAINER, TRAINING, JobController, built
from e2e.loopback import listens
from e2e.process import Process
from e2e.serving import Place
from e2e.wire import Object
from queueing.testing.ports import free_ports

UP_S = 60.0
DEFINITION = "CustomResourceDefinition"
MPI_HEALTH = 8080
"""Where the MPI operator tells how it is; it cannot be told another port."""
CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")
"""Where Kubeflow's operators have the certificate of their webhooks, wherever they run."""


@contextmanager
def jobset(cluster: Cluster) -> Iterator[Process]:
    """Run the controller of JobSets; when the block ends it is gone, its definition is not."""
    manifests = list(_manifests(built(JOBSET).manifests))
    _apply_definitions(cluster, manifests)
    place = Place(cluster.folder / "jobset")
    webhooks, health = free_ports(2)
    configuration = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": HOST, "port": webhooks, "certDir": str(place.folder)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{HOST}:{health}"},
    }
    file = place.folder / "configuration.yaml"
    file.write_text(yaml.safe_dump(configuration))
    with _running(cluster, JOBSET, [f"--config={file}"], webhooks) as process:
        called = place.called(webhooks)
        for one in manifests:
            if "webhooks" in one:
                cluster.api().apply(called.by_url(one))
        yield process


@contextmanager
def mpi(cluster: Cluster) -> Iterator[Process]:
    """Run the controller of MPIJobs."""
    _apply_definitions(cluster, _manifests(built(MPI).manifests))
    flags = ["-lock-namespace=default", "-kube-api-qps=100", "-kube-api-burst=200"]
    with _running(cluster, MPI, flags, MPI_HEALTH) as process:
        yield process


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of Kubeflow, which makes the certificate of its webhooks."""

    controller: JobController
    secret: str
    webhooks: str
    """The name of their configuration."""


TRAINING_OPERATOR = Operator(
    controller=TRAINING,
    secret="training-operator-webhook-cert",
    webhooks="validator.training-operator.kubeflow.org",
)
TRAINER_OPERATOR = Operator(
    controller=TRAINER,
    secret="kubeflow-trainer-webhook-cert",
    webhooks="validator.trainer.kubeflow.org",
)


@contextmanager
def training(cluster: Cluster, *kinds: str) -> Iterator[Process]:
    """Run the training operator for some kinds, as `PyTorchJob`."""
    schemes = [f"-enable-scheme={one}" for one in kinds]
    names = {f"{one.lower()}s.kubeflow.org" for one in kinds}
    with _kubeflow(cluster, TRAINING_OPERATOR, names, schemes) as process:
        yield process


@contextmanager
def trainer(cluster: Cluster) -> Iterator[Process]:
    """Run the controller of TrainJobs; that of JobSets has to run as well."""
    with _kubeflow(cluster, TRAINER_OPERATOR) as process:
        yield process


@contextmanager
def _kubeflow(
    cluster: Cluster, which: Operator, names: Collection[str] = (), more: Collection[str] = ()
) -> Iterator[Process]:
    """Run an operator whose webhooks nobody calls."""
    _apply_definitions(cluster, _manifests(built(which.controller).manifests), names)
    api = cluster.api()
    for namespace in ("kubeflow", "kubeflow-system"):
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        metadata = {"name": which.secret, "namespace": namespace}
        api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {"name": which.webhooks},
    }
    api.apply({**configuration, "kind": "ValidatingWebhookConfiguration", "webhooks": []})
    if not (CERTIFICATES / "tls.crt").exists():
        CERTIFICATES.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            Place(CERTIFICATES)
    served, health = free_ports(2)
    flags = [
        "-metrics-bind-address=0",
        f"-health-probe-bind-address={HOST}:{health}",
        f"-webhook-server-port={served}",
        f"-webhook-secret-name={which.secret}",
    ]
    with _running(cluster, which.controller, [*flags, *more], served) as process:
        yield process


@contextmanager
def _running(
    cluster: Cluster, which: JobController, flags: Iterable[str], port: int
) -> Iterator[Process]:
    """Run a controller until the block ends; it is up when it listens on a port."""
    process = cluster.run(
        which.program, [built(which).command, *flags], KUBECONFIG=str(cluster.kubeconfig())
    )
    try:
        process.wait_until(lambda: listens(port), timeout_s=UP_S, what="listening")
        yield process
    finally:
        process.terminate()


def _apply_definitions(
    cluster: Cluster, manifests: Iterable[Object], names: Collection[str] = ()
) -> None:
    """Apply the definitions among manifests, or those with some names only."""
    for one in manifests:
        if one["kind"] == DEFINITION and (not names or one["metadata"]["name"] in names):
            apply_definition(cluster, one)


def apply_definition(cluster: Cluster, definition: Object) -> None:
    """Apply a definition, and wait until its kind is served."""
    api = cluster.api()
    api.apply(definition)
    name = definition["metadata"]["name"]
    api.wait_one(DEFINITION, name, lambda one: holds(one, "Established"))


def _manifests(folder: Path) -> Iterator[Object]:
    for path in sorted(folder.glob("*.yaml")):
        documents = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        yield from (one for one in documents if one and "metadata" in one)
