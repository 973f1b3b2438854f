"""Cut the definitions of pod templates out of Kubernetes' published JSON schemas.

Run once per Kubernetes version: `python -m queueing_api.crd.extract _definitions.json`, with
the file of definitions that the package `kubernetes-validate` ships (Kubernetes' own schemas,
Apache-2.0).
Descriptions are left out; types, required fields and merge keys are kept.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "kubernetes.json"
ROOTS: Final = ("PodTemplateSpec", "Taint", "Toleration")
_PREFIX: Final = "io.k8s.api.core.v1."
_KEPT: Final = (
    "type",
    "format",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
_SPECIAL: Final = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"$special": "Quantity"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"$special": "IntOrString"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"$special": "EmbeddedMetadata"},
}
# Merge keys that are optional must have a default; these are Kubernetes' own.
_DEFAULTS: Final = {
    ("ContainerPort", "protocol"): "TCP",
    ("LocalObjectReference", "name"): "",
}

# Pods may repeat an entry of these lists (the server only warns), so a Workload must take them too:
# told apart by a key, a repeated environment variable would keep its Job from ever queueing.
_REPEATABLE: Final = (
    ("Container", "env"),
    ("Container", "ports"),
    ("EphemeralContainer", "env"),
    ("EphemeralContainer", "ports"),
    ("PodSpec", "hostAliases"),
    ("PodSpec", "imagePullSecrets"),
)


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Keep what a structural schema can say, and shorten references."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return dict(_SPECIAL.get(name, {"$ref": name.rpartition(".")[2]}))
    kept: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(kept.get("type"), list):
        kept["type"] = next(kind for kind in kept["type"] if kind != "null")
    for key in ("items", "additionalProperties"):
        if key in schema:
            kept[key] = compact(schema[key])
    if "properties" in schema:
        kept["properties"] = {name: compact(item) for name, item in schema["properties"].items()}
    return kept


def references(schema: Any) -> Iterator[str]:
    """Yield the definitions that a compact schema refers to."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"]
        for item in schema.values():
            yield from references(item)


def closure(definitions: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the compact definitions that the roots need, by short name."""
    by_name = {name.rpartition(".")[2]: name for name in definitions if "meta.v1" in name}
    by_name |= {n.removeprefix(_PREFIX): n for n in definitions if n.startswith(_PREFIX)}
    found: dict[str, dict[str, Any]] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = compact(definitions[by_name[name]])
            waiting.extend(references(found[name]))
    for (name, field), value in _DEFAULTS.items():
        found[name]["properties"][field]["default"] = value
    for name, field in _REPEATABLE:
        found[name]["properties"][field]["x-kubernetes-list-type"] = "atomic"
        del found[name]["properties"][field]["x-kubernetes-list-map-keys"]
    return dict(sorted(found.items()))


def text(definitions: dict[str, dict[str, Any]]) -> str:
    """Lay the definitions out with one property a line, so that changes can be read."""
    parts = []
    for name, schema in definitions.items():
        head = {key: value for key, value in schema.items() if key != "properties"}
        lines = [
            f"      {json.dumps(field)}: {json.dumps(item, sort_keys=True)}"
            for field, item in sorted(schema.get("properties", {}).items())
        ]
        body = ",\n".join(lines)
        parts.append(
            f"  {json.dumps(name)}: {{\n"
            f'    "schema": {json.dumps(head, sort_keys=True)},\n'
            f'    "properties": {{\n{body}\n    }}\n  }}'
        )
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    published = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    DATA.write_text(text(closure(published["$defs"])), encoding="utf-8")
