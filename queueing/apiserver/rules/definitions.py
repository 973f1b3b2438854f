"""CustomResourceDefinitions: defaults, checks, and the status that says the kind is served."""

from collections.abc import Iterator

from queueing.apiserver.failures import StatusCause, invalid_value, required, unsupported_value
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import Object, dig, metadata, name_of

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def defaulted(obj: Object) -> Object:
    """Return the definition with the names that follow from its kind."""
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    kind = str(names.get("kind") or "")
    filled = {"singular": kind.lower(), "listKind": f"{kind}List", **names}
    return {**obj, "spec": {"conversion": {"strategy": "None"}, **spec, "names": filled}}


def created(obj: Object) -> Object:
    """Return the definition as established: this server serves a kind at once."""
    finalizers = [*(metadata(obj).get("finalizers") or ()), CLEANUP]
    made = {**obj, "metadata": {**metadata(obj), "finalizers": list(dict.fromkeys(finalizers))}}
    return _with_status(made, metadata(obj).get("creationTimestamp"), [])


def updated(old: Object, new: Object) -> Object:
    """Return the definition with its status following its spec."""
    if old.get("spec") == new.get("spec"):
        return new
    conditions = dig(old, "status", "conditions", default=[]) or [{}]
    stored = dig(old, "status", "storedVersions", default=[]) or []
    return _with_status(new, conditions[0].get("lastTransitionTime"), stored)


def _with_status(obj: Object, now: str | None, stored: list[str]) -> Object:
    spec = obj.get("spec") or {}
    storage = [version["name"] for version in spec.get("versions") or () if version.get("storage")]
    conditions = [
        {
            "type": "NamesAccepted",
            "status": "True",
            "reason": "NoConflicts",
            "message": "no conflicts found",
        },
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
    ]
    status = {
        "conditions": [{"lastTransitionTime": now, **condition} for condition in conditions],
        "acceptedNames": spec.get("names") or {},
        "storedVersions": list(dict.fromkeys([*stored, *storage])),
    }
    return {**obj, "status": status}


def violations(obj: Object, old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong with a definition."""
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    for field, value in (
        ("spec.group", spec.get("group")),
        ("spec.names.plural", names.get("plural")),
        ("spec.names.kind", names.get("kind")),
    ):
        if not value:
            yield required(field)
    wanted = f"{names.get('plural')}.{spec.get('group')}"
    if name_of(obj) != wanted:
        yield invalid_value(
            "metadata.name", shown(name_of(obj)), 'must be spec.names.plural+"."+spec.group'
        )
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        scopes = ('"Cluster"', '"Namespaced"')
        yield unsupported_value("spec.scope", shown(spec.get("scope") or ""), scopes)
    versions = spec.get("versions") or []
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid_value(
            "spec.versions",
            shown([version.get("name") for version in versions]),
            "must have exactly one version marked as storage version",
        )
    for index, version in enumerate(versions):
        if not dig(version, "schema", "openAPIV3Schema"):
            yield required(f"spec.versions[{index}].schema.openAPIV3Schema", "schemas are required")
    if old is not None and dig(old, "spec", "scope") != spec.get("scope"):
        yield invalid_value("spec.scope", shown(spec.get("scope")), "field is immutable")
