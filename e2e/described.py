"""Objects of described kinds on a real API server, by the rows of `tests/kinds`.

Kinds of others are served by definitions that keep every field; their controllers do not run.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from e2e.api import Api
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.registry import kind_of
from queueing.kinds.view import View
from queueing_api.queueing.v1alpha1.queueable_kind import KindResource
from tests.kinds.rows import ROWS, Row, sample, viewed

OF_KUBERNETES = frozenset({"", "apps", "batch"})
_KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(named: KindResource, *, namespaced: bool = True) -> Object:
    """Return a definition of a kind that keeps every field."""
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
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [version],
        },
    }


@contextmanager
def served(api: Api, *, but: Collection[str] = ()) -> Iterator[None]:
    """Have a definition of each kind that is not Kubernetes' own, and delete them in the end.

    Left out are the kinds `but`.
    """
    kinds = [kind_of(row.framework) for row in ROWS if kind_name(row) not in but]
    wanted = [definition(one.spec.resource) for one in kinds]
    wanted += [
        definition(one.resource, namespaced=one.namespaced)
        for kind in kinds
        for one in kind.hooks.related_kinds
    ]
    made = [
        api.apply(one)["metadata"]["name"]
        for one in wanted
        if one["spec"]["group"] not in OF_KUBERNETES
    ]
    for name in made:
        wait_established(api, name)
    yield
    for name in made:
        api.delete("CustomResourceDefinition", name)


def wait_established(api: Api, name: str) -> None:
    """Wait until the API server serves what a definition defines."""
    api.wait_one(
        "CustomResourceDefinition",
        name,
        lambda one: any(
            found["type"] == "Established" and found["status"] == "True"
            for found in one.get("status", {}).get("conditions", ())
        ),
    )


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
