"""Put the parts together: one CustomResourceDefinition per kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, Final

from queueing_api.crd.defaulting import with_defaults, without_nulls
from queueing_api.crd.resources import OWN_RESOURCES, RESOURCES, Column, Resource
from queueing_api.crd.rules import RULES, Rule
from queueing_api.crd.structural import Schema, structural
from queueing_api.kueue import v1beta1, v1beta2
from queueing_api.meta.v1 import KubeObject
from queueing_api.queueing import v1alpha1

GROUP: Final = "kueue.x-k8s.io"
OWN_GROUP: Final = "queueing.dev"
CATEGORY: Final = "kueue"
STORED: Final = v1beta2
CONVERSION_SERVICE: Final = {
    "name": "kueue-webhook-service",
    "namespace": "kueue-system",
    "path": "/convert",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookConversion:
    """Where the API server has objects converted between versions.

    `url` names the endpoint itself, path included; without it, the Service of an installation is
    asked. `ca_bundle` is base64 of the PEM certificates that the endpoint's is checked with; when
    empty, somebody fills it in later.
    """

    url: str = ""
    ca_bundle: str = ""

    def stanza(self) -> dict[str, Any]:
        """Return the `conversion` of a CRD."""
        client: dict[str, Any] = {"url": self.url} if self.url else {"service": CONVERSION_SERVICE}
        if self.ca_bundle:
            client = {**client, "caBundle": self.ca_bundle}
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}


def crds(conversion: WebhookConversion | None = None) -> list[dict[str, Any]]:
    """Return the CRDs of all kinds, sorted by name.

    Without a conversion they serve the stored version alone; with one, Kueue's kinds have v1beta1
    beside it.
    """
    made = [_kueue(resource, conversion) for resource in RESOURCES]
    made += [_crd(resource, OWN_GROUP, [v1alpha1]) for resource in OWN_RESOURCES]
    return sorted(made, key=lambda crd: str(crd["metadata"]["name"]))


def _kueue(resource: Resource, conversion: WebhookConversion | None) -> dict[str, Any]:
    if conversion is None:
        return _crd(resource, GROUP, [STORED])
    return _crd(resource, GROUP, [v1beta1, STORED], {"conversion": conversion.stanza()})


def _crd(
    resource: Resource,
    group: str,
    served: Sequence[ModuleType],
    more: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Make one definition; the last of the served versions is the stored one."""
    spec: dict[str, Any] = {
        "group": group,
        "names": {
            "kind": resource.kind,
            "listKind": f"{resource.kind}List",
            "plural": resource.plural,
            "singular": resource.singular,
            "shortNames": list(resource.short_names),
            "categories": [CATEGORY],
        },
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        **more,
    }
    spec["versions"] = [
        _version(resource, version, stored=version is served[-1]) for version in served
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{group}"},
        "spec": spec,
    }


@cache
def _version(resource: Resource, package: ModuleType, *, stored: bool) -> dict[str, Any]:
    """Return a version of a kind, which all definitions made of it share: nobody changes it."""
    model: type[KubeObject] = getattr(package, resource.kind)
    name = model.gvk()[1]
    rules = RULES[name].get(resource.kind, ())
    version: dict[str, Any] = {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": object_schema(model, rules)},
    }
    if resource.columns:
        version["additionalPrinterColumns"] = [_column(item, name) for item in resource.columns]
    if resource.selectable and stored:  # the same list in two versions is refused
        version["selectableFields"] = [{"jsonPath": path} for path in resource.selectable]
    if resource.has_status:
        version["subresources"] = {"status": {}}
    return version


def _column(column: Column, version: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "jsonPath": column.older_path
        if version == "v1beta1" and column.older_path
        else column.path,
        "description": column.description,
    }
    return made | ({"priority": column.priority} if column.priority else {})


def object_schema(model: type[KubeObject], rules: Sequence[Rule]) -> Schema:
    """Return the structural schema of a kind, with its rules."""
    raw = _written_by_pydantic(model)
    schema = structural(raw, raw.get("$defs", {}))
    properties = schema["properties"]
    properties["apiVersion"] = {
        "description": "Group and version that this object is written in.",
        "type": "string",
    }
    properties["kind"] = {"description": "Kind of the object.", "type": "string"}
    properties["metadata"] = {"type": "object"}
    for rule in rules:
        _at(schema, rule.path).setdefault("x-kubernetes-validations", []).append(_validation(rule))
    return schema


@cache
def _written_by_pydantic(model: type[KubeObject]) -> Schema:
    """Return a schema that `structural` reads and leaves as it is."""
    return model.model_json_schema(by_alias=True)


def _at(schema: Schema, path: str) -> Schema:
    for step in path.split(".") if path else ():
        name = step.rstrip("[]{}")
        schema = schema["properties"][name]
        if step.endswith("[]"):
            schema = schema["items"]
        elif step.endswith("{}"):
            schema = schema["additionalProperties"]
    return schema


def _validation(rule: Rule) -> dict[str, str]:
    made = {"rule": rule.expression, "message": rule.message}
    if rule.message_expression:
        made["messageExpression"] = rule.message_expression
    if rule.field:
        made["fieldPath"] = rule.field
    return made


def as_stored(model: type[KubeObject], value: Schema) -> Schema:
    """Return an object of a kind as the API server would store it."""
    schema = _without_rules(model)
    stored: Schema = with_defaults(schema, without_nulls(schema, value))
    return stored


@cache
def _without_rules(model: type[KubeObject]) -> Schema:
    return object_schema(model, ())
