"""A cluster inside this process: the embedded API server, simulated nodes, and our controller."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import queueing
from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.server import EmbeddedServer, serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.cli.local.owners import FRAMEWORKS, definitions, playing
from queueing.cli.local.webhooks import local_webhooks
from queueing.controller.app import Options, run
from queueing.core.settings import Compatibility
from queueing.kinds.registry import JOB
from queueing.kube.config import Cluster
from queueing.sim.documents import Document, load
from queueing_api.config.queueing import Integrations
from queueing_api.config.server import ControllerHealth, ControllerMetrics, LeaderElection
from queueing_api.config.v1beta2 import Configuration
from queueing_api.crd.generate import crds

SAMPLE_OBJECTS = (
    "namespaces.yaml",
    "flavors.yaml",
    "priorities.yaml",
    "cluster-queues.yaml",
    "local-queues.yaml",
    "checkpoint-policies.yaml",
    "nodes.yaml",
)
RACKS = ("racks/queue.yaml", "racks/nodes.yaml")
"""Machines in racks, and a queue whose gangs each get one."""
FIRST = ("CustomResourceDefinition", "Namespace")
"""Kinds on which other objects depend."""
POD = "pod"
"""Name of the framework of pods that nothing else runs."""
NOWHERE = "0"
"""An address to listen on that means: do not listen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLocation:
    """Where a local cluster listens and keeps its objects; by default nowhere in particular."""

    data: Path | None = None
    port: int = 0


def samples_folder() -> Path:
    """Return the folder of the samples: inside an installed package, else in the checkout."""
    package = Path(queueing.__file__).parent
    inside = package / "cli" / "samples"
    return inside if inside.is_dir() else package.parent / "config" / "samples"


def sample_objects() -> list[Document]:
    """Return the sample queues and nodes."""
    return load(str(samples_folder() / name) for name in SAMPLE_OBJECTS)


def sample_racks() -> list[Document]:
    """Return two racks of nodes, their topology, and a queue for gangs that need a rack each."""
    return load(str(samples_folder() / name) for name in RACKS)


def sample_gang() -> list[Document]:
    """Return a Job whose pods must be in one rack."""
    return load([str(samples_folder() / "racks" / "gang.yaml")])


def sample_jobs() -> list[Document]:
    """Return the Jobs of the three sample teams."""
    return load([str(samples_folder() / "jobs")])


def sample_jobsets() -> list[Document]:
    """Return the JobSets of the sample teams."""
    return load([str(samples_folder() / "jobsets")])


def sample_pods() -> list[Document]:
    """Return the pods of the sample teams that nothing else runs."""
    return load([str(samples_folder() / "pods")])


def usual() -> Configuration:
    """Return the configuration of a local cluster: what is played in it is queued."""
    return Configuration(integrations=Integrations(frameworks=[JOB, POD, *FRAMEWORKS]))


def alone(configuration: Configuration | None = None) -> Configuration:
    """Return a configuration for the only controller of a local cluster: no lease, no ports."""
    return (configuration or usual()).model_copy(
        update={
            "leader_election": LeaderElection(leader_elect=False),
            "health": ControllerHealth(health_probe_bind_address=NOWHERE),
            "metrics": ControllerMetrics(bind_address=NOWHERE),
        }
    )


@asynccontextmanager
async def local_cluster(
    place: ServerLocation, objects: Iterable[Document]
) -> AsyncIterator[EmbeddedServer]:
    """Run the API server and the nodes until the block ends; the objects are there at the start.

    Raises ManifestError, naming file and line, for an object that the server does not take.
    """
    async with serve(data=place.data, port=place.port) as server:
        server.load([*crds(), *definitions(), _namespace("kueue-system")])
        for one in sorted(objects, key=lambda one: one.kind not in FIRST):
            try:
                server.load([one.value])
            except ApiFailure as failure:
                raise one.error([], f"{one.title}: {failure}") from failure
        async with simulate(server.store), playing(server):
            yield server


@asynccontextmanager
async def controlled(
    server: EmbeddedServer,
    configuration: Configuration,
    compatibility: Compatibility,
    socket: Path | None = None,
) -> AsyncIterator[asyncio.Task[None]]:
    """Run the controller on the server, over HTTP as on any other, until the block ends.

    On the `socket` it answers who listens there what it knows. It takes SIGINT and SIGTERM for
    itself: the task that the block gets ends when one comes.
    """
    options = Options(
        configuration=configuration,
        compatibility=compatibility,
        cluster=Cluster.plain(server.url),
        serving_socket=socket,
        policies=False,  # the embedded server asks webhooks instead
    )
    async with local_webhooks(server, configuration), asyncio.TaskGroup() as group:
        work = group.create_task(run(options), name="controller")
        try:
            yield work
        finally:
            work.cancel()


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
