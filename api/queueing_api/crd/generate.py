"""Put the parts together: one CustomResourceDefinition per kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from queueing_api.crd.resources import RESOURCES, Column, Resource
from queueing_api.crd.rules import RULES, Rule
from queueing_api.crd.structural import Schema, structural
from queueing_api.kueue import v1beta2
from queueing_api.meta.v1 import KubeObject

GROUP: Final = "kueue.x-k8s.io"
CATEGORY: Final = "kueue"


@dataclass(frozen=True, slots=True)
class WebhookConversion:
    """Where the API server has objects converted between versions.

    `client_config` is the CRD's `clientConfig`: a `url` or a `service`, and a `caBundle`.
    """

    client_config: Mapping[str, Any]


def crds() -> list[dict[str, Any]]:
    """Return the CRDs of all kinds, sorted by name."""
    made = [_crd(resource) for resource in RESOURCES]
    return sorted(made, key=lambda crd: str(crd["metadata"]["name"]))


def _crd(resource: Resource) -> dict[str, Any]:
    model: type[KubeObject] = getattr(v1beta2, resource.kind)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": resource.kind,
                "listKind": f"{resource.kind}List",
                "plural": resource.plural,
                "singular": resource.singular,
                "shortNames": list(resource.short_names),
                "categories": [CATEGORY],
            },
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(resource, model)],
        },
    }


def _version(resource: Resource, model: type[KubeObject]) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": model.gvk()[1],
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": object_schema(model, RULES.get(resource.kind, ()))},
    }
    if resource.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in resource.columns]
    if resource.selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in resource.selectable]
    if resource.has_status:
        version["subresources"] = {"status": {}}
    return version


def _column(column: Column) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.path,
        "description": column.description,
    }
    return made | ({"priority": column.priority} if column.priority else {})


def object_schema(model: type[KubeObject], rules: Sequence[Rule]) -> Schema:
    """Return the structural schema of a kind, with its rules."""
    raw = model.model_json_schema(by_alias=True)
    schema = structural(raw, raw.get("$defs", {}))
    properties = schema["properties"]
    properties["apiVersion"] = {
        "type": "string",
        "description": "Group and version that this object is written in.",
    }
    properties["kind"] = {"type": "string", "description": "Kind of the object."}
    properties["metadata"] = {"type": "object"}
    for rule in rules:
        _at(schema, rule.path).setdefault("x-kubernetes-validations", []).append(_validation(rule))
    return schema


def _at(schema: Schema, path: str) -> Schema:
    for step in path.split(".") if path else ():
        name, _, items = step.partition("[")
        schema = schema["properties"][name]
        if items:
            schema = schema["items"]
    return schema


def _validation(rule: Rule) -> dict[str, str]:
    made = {"rule": rule.expression, "message": rule.message}
    if rule.message_expression:
        made["messageExpression"] = rule.message_expression
    return made
