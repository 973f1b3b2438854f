"""The samples of `config/samples/dra` as they stand, on nodes of their own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from e2e.devices.shapes import wait_known
from e2e.nodes import delete_nodes, make_node, wait_usable
from e2e.wire import Object
from e2e.world import World

FOLDER = Path(__file__).parents[2] / "config" / "samples" / "dra"
NAMES = sorted(one.stem for one in FOLDER.glob("*.yaml"))


@dataclass(frozen=True, slots=True)
class Sample:
    """One of them, on the cluster."""

    documents: tuple[Object, ...]

    def of_kind(self, kind: str) -> list[Object]:
        """Return its objects of a kind."""
        return [one for one in self.documents if one["kind"] == kind]

    @property
    def job(self) -> Object:
        """Return its Job as the user wrote it."""
        return self.of_kind("Job")[0]

    @property
    def charge(self) -> Object:
        """Return how its resource is charged."""
        (resource,) = self.of_kind("DeviceFlavor")[0]["spec"]["resources"]
        found: Object = resource.get("charge", {"type": "Devices"})
        return found

    @property
    def quota(self) -> str:
        """Return the name of the resource that quota knows."""
        (resource,) = self.of_kind("DeviceFlavor")[0]["spec"]["resources"]
        return str(self.charge.get("quotaResource", resource["name"]))

    def devices(self) -> dict[tuple[str, str], Object]:
        """Return its devices by pool and name."""
        return {
            (one["spec"]["pool"]["name"], device["name"]): device
            for one in self.of_kind("ResourceSlice")
            for device in one["spec"].get("devices") or []
        }


def read(name: str) -> Sample:
    """Read a sample."""
    return Sample(tuple(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text())))


@contextmanager
def applied(space: World) -> Iterator[dict[str, Sample]]:
    """Apply all samples at once, with their Jobs in the test's namespace."""
    found = {name: read(name) for name in NAMES}
    nodes = [one["metadata"] for sample in found.values() for one in sample.of_kind("Node")]
    try:
        for meta in nodes:
            make_node(space.api, meta["name"], group=space.name("samples"), labels=meta["labels"])
        wait_usable(space.api, len(nodes), group=space.name("samples"))
        _apply(space, list(found.values()))
        yield found
    finally:
        delete_nodes(space.api, [meta["name"] for meta in nodes])


def _apply(space: World, samples: Sequence[Sample]) -> None:
    """Do as an admin: queues open when their DeviceFlavors count; then come the Jobs."""
    for one in _all(samples, "DeviceClass"):
        _make_once(space, one)
    space.make(*_all(samples, "ResourceSlice", "ResourceFlavor", "DeviceFlavor"))
    for one in _all(samples, "DeviceFlavor"):
        wait_known(space, one["metadata"]["name"])
    space.make(*_all(samples, "ClusterQueue"))
    for one in _all(samples, "LocalQueue", "Job"):
        space.make({**one, "metadata": {**one["metadata"], "namespace": space.namespace}})


def _all(samples: Sequence[Sample], *kinds: str) -> list[Object]:
    return [one for kind in kinds for sample in samples for one in sample.of_kind(kind)]


def _make_once(space: World, wanted: Object) -> None:
    """Make a DeviceClass that other samples of the driver, or the driver itself, may have made."""
    if space.api.find(wanted["kind"], wanted["metadata"]["name"]) is None:
        space.make(wanted)
