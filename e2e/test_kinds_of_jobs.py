"""Objects of every kind on a real API server: it takes the patches of a start and of a stop, and
afterwards stores the bytes that it stored before.

Kinds of others are served by definitions that keep every field; their controllers do not run.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from e2e.cluster import Cluster
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.changes import MergePatch, Patch
from queueing.kinds.registry import kind_of
from queueing.kinds.starting import mark, start, suspend, undo
from queueing.kinds.view import View
from tests.kinds.rows import ROWS, Row, additions, at, originals, sample, viewed

STOPPED_BY_US = [row for row in ROWS if row.stopped_by == "suspension"]
MARKED = [row for row in ROWS if row.stopped_by == "pods"]
OF_KUBERNETES = frozenset({"", "apps", "batch"})
_KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(row: Row) -> Object:
    """Return a definition of a row's kind that keeps every field."""
    named = kind_of(row.framework).spec.resource
    schema = {"type": "object", "properties": {"spec": _KEPT, "status": _KEPT}}
    version = {
        "name": named.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"kind": named.kind, "plural": named.plural, "singular": named.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{named.plural}.{named.group}",
            # Some of the groups are Kubernetes' own to approve.
            "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"},
        },
        "spec": {
            "group": named.group,
            "names": names,
            "scope": "Namespaced",
            "versions": [version],
        },
    }


@pytest.fixture(scope="module")
def served(cluster: Cluster) -> Iterator[Cluster]:
    """Lend the cluster with a definition of each kind that is not Kubernetes' own."""
    api = cluster.api()
    others = [
        row for row in ROWS if kind_of(row.framework).spec.resource.group not in OF_KUBERNETES
    ]
    made = [api.apply(definition(row))["metadata"]["name"] for row in others]
    for name in made:
        api.wait_one(
            "CustomResourceDefinition",
            name,
            lambda one: any(
                found["type"] == "Established" and found["status"] == "True"
                for found in one.get("status", {}).get("conditions", ())
            ),
        )
    yield cluster
    for name in made:
        api.delete("CustomResourceDefinition", name)


@pytest.mark.parametrize("row", STOPPED_BY_US, ids=[one.framework for one in STOPPED_BY_US])
def test_a_stopped_object_is_stored_as_it_was_before_its_start(
    served: Cluster, space: World, row: Row
) -> None:
    before = created(space, row)
    kept = originals(seen(row, before))
    for patch in start(seen(row, before), additions(row)):
        patched(space, row, patch)
    running = stored(space, row)
    assert not seen(row, running).suspended
    for place, one in zip(row.injected, additions(row), strict=True):
        assert one.labels.items() <= at(running, place).items(), place
    prepare_to_restore(space, row)
    patched(space, row, undo(seen(row, stored(space, row)), kept))
    assert written(stored(space, row)) == written(before)


@pytest.mark.parametrize("row", MARKED, ids=[one.framework for one in MARKED])
def test_templates_of_pods_that_are_queued_are_marked(
    served: Cluster, space: World, row: Row
) -> None:
    thing = sample(row, metadata={**sample(row)["metadata"], "namespace": space.namespace})
    thing["spec"]["replicas"] = 0
    made = space.api.create(thing)
    patched(space, row, mark(seen(row, made)))
    assert mark(seen(row, stored(space, row))) is None


def created(space: World, row: Row) -> Object:
    """Create the sample of a row, and return it as stored."""
    thing = sample(row)
    thing["metadata"] = {
        key: value
        for key, value in thing["metadata"].items()
        if key in ("name", "labels", "annotations")
    } | {"namespace": space.namespace}
    if row.framework == "batch/job":
        # The API server writes these itself.
        thing["spec"]["template"]["metadata"] = {"labels": {"app": "render"}}
    return space.api.create(thing)


def prepare_to_restore(space: World, row: Row) -> None:
    """Do what must be done before a template can be restored, as the description says."""
    rule = kind_of(row.framework).spec.suspend
    if rule.restoration == "WithStop":
        return
    patched(space, row, suspend(seen(row, stored(space, row))))
    wait_inactive(space, row)
    for path in rule.reset:
        change: Any = None
        for name in reversed(path.split(".")):
            change = {name: change}
        space.api.patch(
            kind_name(row), name_of(row), change, namespace=space.namespace, subresource="status"
        )


def wait_inactive(space: World, row: Row) -> None:
    """Wait until no pod of an object runs, and its controller has seen that it is suspended."""
    is_job = row.framework == "batch/job"

    def over(one: Object) -> bool:
        suspended = any(
            found["type"] == "Suspended" and found["status"] == "True"
            for found in one.get("status", {}).get("conditions", ())
        )
        return not seen(row, one).active and (suspended or not is_job)

    space.api.wait_one(kind_name(row), name_of(row), over, namespace=space.namespace)


def patched(space: World, row: Row, patch: Patch | None) -> None:
    assert patch is not None
    body = patch.body if isinstance(patch, MergePatch) else list(patch.operations)
    change = msgspec.to_builtins(body)
    space.api.patch(kind_name(row), name_of(row), change, namespace=space.namespace)


def stored(space: World, row: Row) -> Object:
    return space.api.get(kind_name(row), name_of(row), space.namespace)


def seen(row: Row, thing: Object) -> View:
    return viewed(row, thing)


def kind_name(row: Row) -> str:
    kind = kind_of(row.framework)
    return f"{kind.api_version}/{kind.name}"


def name_of(row: Row) -> str:
    return str(sample(row)["metadata"]["name"])


def written(thing: Object) -> str:
    """Return what is stored of an object, without the server's bookkeeping and the status."""
    own = ("resourceVersion", "generation", "managedFields")
    metadata = {key: value for key, value in thing["metadata"].items() if key not in own}
    body = {key: value for key, value in thing.items() if key not in ("metadata", "status")}
    return json.dumps({"metadata": metadata, **body}, sort_keys=True)
