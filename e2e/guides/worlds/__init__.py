"""What the pages take for granted: a file for each page, of its cluster and its reader.

The first document of a file is a `World`; the others are objects of the cluster.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    """A cluster, and a reader with a folder.

    `queue` names a ClusterQueue of 100 cpu of the flavor `any`, which the LocalQueue `main` of the
    reader's namespace leads to. `blocks` says for each block of YAML what the reader does with it:

    - `apply` it, or only `read` it;
    - `configure` the cluster with it, from the start;
    - `{save: FILES}`, from the start, at the end of what `files` has there;
    - `{into: OBJECTS}`: apply each object with the block as a part of it.

    `before` a command, by its text, more objects are applied; of those with `part` the last block
    is a part. An object may have `job: NAME` for all that makes it a Job of one pod. `given` are
    folders and files of the checkout that the cluster has from the start. `recording` is a file in
    which a life of the queue `main` is recorded.
    """

    namespace: str = "team"
    queue: str = ""
    configuration: Object = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[Any, ...] = ()
    before: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    recording: str = ""
    objects: tuple[Object, ...] = ()

    @classmethod
    def of(cls, page: str) -> "World":
        """Read the world of a page."""
        told, *objects = yaml.safe_load_all((FOLDER / f"{page}.yaml").read_text("utf-8"))
        told = told or {}
        tuples = {name: tuple(told.get(name, ())) for name in ("blocks", "given")}
        world = cls(**{**told, **tuples})
        return replace(world, objects=(*world._usual(), *map(whole, filter(None, objects))))

    def _usual(self) -> Iterator[Object]:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        room = {"cpu": "128", "memory": "512Gi", "pods": "110"}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "node-1"},
            "status": {"allocatable": room, "capacity": room},
        }
        if not self.queue:
            return
        quota = {"name": "cpu", "nominalQuota": 100}
        yield _kueue("ResourceFlavor", {"name": "any"}, {})
        groups = [{"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [quota]}]}]
        spec = {
            "namespaceSelector": {},
            "resourceGroups": groups,
            "preemption": {"withinClusterQueue": "LowerPriority"},
        }
        yield _kueue("ClusterQueue", {"name": self.queue}, spec)
        yield _kueue(
            "LocalQueue",
            {"name": "main", "namespace": self.namespace},
            {"clusterQueue": self.queue},
        )


def _kueue(kind: str, metadata: Object, spec: Object) -> Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }


def merged(target: Any, part: Any) -> Any:
    """Return an object with a part of it as it is written on a page."""
    if not (isinstance(target, Mapping) and isinstance(part, Mapping)):
        return deepcopy(part)
    whole = dict(target)
    for name, value in part.items():
        whole[name] = merged(whole[name], value) if name in whole else deepcopy(value)
    return whole


def whole(told: Object) -> Object:
    """Return an object as a file of a world writes it: `job: NAME` is a Job of one pod."""
    if "job" not in told:
        return told
    name, *rest = told["job"], {key: value for key, value in told.items() if key != "job"}
    container = {
        "name": "main",
        "image": "registry.example.com/train:1",
        "resources": {"requests": {"cpu": "1"}},
    }
    made = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
    found: Object = merged(made, *rest)
    return found


def lasting(one: Object) -> Object:
    """Return an object that the simulation runs for ten minutes, if it runs anything."""
    if one.get("kind") in {"Job", "Pod"}:
        usual = {"metadata": {"annotations": {"queueing.dev/simulate-seconds": "600"}}}
        one = merged(usual, one)
    return one
