"""Controllers of other kinds of jobs, beside a test cluster as their projects install them.

Their definitions and webhooks are those of their modules; the webhooks are called by URL, as no
Service leads to a process of this machine. Pods of the whole cluster are held up while one of them
is away, so that each needs a control plane for itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controlplane.controllers import JOBSET, built
from e2e.loopback import listens
from e2e.process import Process
from e2e.serving import Place
from e2e.wire import Object
from queueing.testing.ports import free_ports

UP_S = 60.0


@contextmanager
def jobset(cluster: Cluster) -> Iterator[Process]:
    """Run the controller of JobSets; when the block ends it is gone, its definition is not."""
    made = built(JOBSET)
    manifests = list(_manifests(made.manifests))
    for one in manifests:
        if one["kind"] == "CustomResourceDefinition":
            apply_definition(cluster, one)
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
    process = cluster.run(
        "jobset", [made.command, f"--config={file}"], KUBECONFIG=str(cluster.kubeconfig())
    )
    try:
        process.wait_until(lambda: listens(webhooks), timeout_s=UP_S, what="listening")
        called = place.called(webhooks)
        for one in manifests:
            if "webhooks" in one:
                cluster.api().apply(called.by_url(one))
        yield process
    finally:
        process.terminate()


def apply_definition(cluster: Cluster, definition: Object) -> None:
    """Apply a definition, and wait until its kind is served."""
    api = cluster.api()
    api.apply(definition)
    name = definition["metadata"]["name"]
    api.wait_one("CustomResourceDefinition", name, lambda one: holds(one, "Established"))


def _manifests(folder: Path) -> Iterator[Object]:
    for path in sorted(folder.glob("*.yaml")):
        documents = yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        yield from (one for one in documents if one and "metadata" in one)
