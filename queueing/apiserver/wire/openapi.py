"""OpenAPI v3 (and a minimal v2): what `kubectl explain` and `kubectl apply` read."""

import hashlib
from typing import Any

from queueing.apiserver.failures import no_such_path
from queueing.apiserver.resources.resource import Resource, ServedVersion
from queueing.apiserver.resources.shapes import components, kind_schema
from queueing.apiserver.tree import Object
from queueing.apiserver.wire.api import Api
from queueing.apiserver.wire.bodies import Reply, encoded, reply
from queueing.apiserver.wire.call import HttpRequest

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_EMPTY_V2 = b"\n\x032.0"  # a Document that says only `swagger: "2.0"`
_INFO = {"title": "Kubernetes", "version": "v1.36.3"}


def document(api: Api, call: HttpRequest) -> Reply:
    """Answer `/openapi/v2`, `/openapi/v3` and the documents below it."""
    path = call.path.rstrip("/")
    if path == "/openapi/v2":
        if "protobuf" in call.accept:
            return Reply(body=_EMPTY_V2, content_type=_PROTOBUF_V2)
        return reply({"swagger": "2.0", "info": _INFO, "paths": {}, "definitions": {}})
    versions = {
        _path_of(group, version): (group, version)
        for group, names in api.store.catalog.groups().items()
        for version in names
    }
    if path == "/openapi/v3":
        mark = hashlib.sha256(str(api.store.catalog.revision).encode()).hexdigest()[:16]
        paths = {
            name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={mark}"} for name in versions
        }
        return reply({"paths": paths})
    found = versions.get(path.removeprefix("/openapi/v3/"))
    if found is None:
        raise no_such_path()
    return Reply(body=encoded(_version_document(api, *found)))


def _path_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _version_document(api: Api, group: str, version: str) -> Object:
    schemas: Object = {_META: components(api.store.catalog.builtin("", "pods"))["meta.ObjectMeta"]}
    schemas |= components(api.store.catalog.builtin("", "pods"))
    paths: Object = {}
    for resource, served in api.store.catalog.in_version(group, version):
        kind = {"group": group, "version": version, "kind": resource.kind}
        name = f"{'.'.join(reversed(group.split('.'))) or 'core'}.{version}.{resource.kind}"
        schemas |= {} if resource.custom else components(resource)
        schemas[name] = {
            **_kind_schema(resource, served),
            "x-kubernetes-group-version-kind": [kind],
        }
        paths |= _paths(resource, version, kind, name)
    return {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": {"schemas": schemas}}


def _kind_schema(resource: Resource, served: ServedVersion) -> Object:
    schema: Object = served.schema if resource.custom else kind_schema(resource)
    properties = {
        "apiVersion": {
            "type": "string",
            "description": "The version of the schema in which this object is written.",
        },
        "kind": {"type": "string", "description": "The kind of this object."},
        **(schema.get("properties") or {}),
        "metadata": {
            "description": "The object's name, labels and what else every object has.",
            "allOf": [{"$ref": f"#/components/schemas/{_META}"}],
        },
    }
    return {**schema, "type": "object", "properties": properties}


def _paths(resource: Resource, version: str, kind: Object, name: str) -> Object:
    base = f"/apis/{resource.group}/{version}" if resource.group else f"/api/{version}"
    collection = (
        f"{base}/namespaces/{{namespace}}/{resource.plural}"
        if resource.namespaced
        else f"{base}/{resource.plural}"
    )
    one, many = f"{collection}/{{name}}", {"x-kubernetes-group-version-kind": kind}
    words = ("dryRun", "fieldManager", "fieldValidation")
    parameters = [
        {"name": word, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for word in words
    ]
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    answer: dict[str, Any] = {"responses": {"200": {"description": "OK", "content": content}}}
    write = {**many, **answer, "parameters": parameters}
    return {
        collection: {
            "get": {**many, **answer, "x-kubernetes-action": "list"},
            "post": {**write, "x-kubernetes-action": "post"},
        },
        one: {
            "get": {**many, **answer, "x-kubernetes-action": "get"},
            "put": {**write, "x-kubernetes-action": "put"},
            "patch": {**write, "x-kubernetes-action": "patch"},
            "delete": {**many, **answer, "x-kubernetes-action": "delete"},
        },
    }
