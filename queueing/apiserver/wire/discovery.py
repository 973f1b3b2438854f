"""What is served: groups, versions, kinds; plain, and aggregated as kubectl prefers it."""

import hashlib

from queueing.apiserver.failures import no_such_path
from queueing.apiserver.resources.resource import Resource, ServedVersion
from queueing.apiserver.tree import Object
from queueing.apiserver.wire.api import Api
from queueing.apiserver.wire.bodies import Reply, encoded, reply
from queueing.apiserver.wire.call import HttpRequest

VERSION: Object = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3",
    "gitCommit": "embedded",
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "queueing/embedded",
}
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUBRESOURCE_VERBS = ["get", "patch", "update"]
_REVIEWS: tuple[tuple[str, str, str], ...] = (
    ("authentication.k8s.io", "tokenreviews", "TokenReview"),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"),
)


def discover(api: Api, call: HttpRequest) -> Reply:
    """Answer `/api`, `/apis` and the paths below them that name a group or a version."""
    parts = call.path.strip("/").split("/")
    if (
        len(parts) == 1
        and "as=APIGroupDiscoveryList" in call.accept
        and "v=v2;" in f"{call.accept};".replace(",", ";")
    ):
        return _aggregated(api, core=parts[0] == "api")
    if parts == ["api"]:
        address = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
        return reply(
            {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": address}
        )
    if parts == ["apis"]:
        groups = [_group(name, versions) for name, versions in _groups(api).items() if name]
        return reply({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if parts[0] == "api":
        return _resources(api, "", parts[1])
    if len(parts) == 2:  # noqa: PLR2004 - apis and a group
        versions = _groups(api).get(parts[1])
        if versions is None:
            raise no_such_path()
        return reply({"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], versions)})
    return _resources(api, parts[1], parts[2])


def _groups(api: Api) -> dict[str, list[str]]:
    groups = api.store.catalog.groups()
    for group, _, _ in _REVIEWS:
        groups.setdefault(group, ["v1"])
    return dict(sorted(groups.items()))


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _resources(api: Api, group: str, version: str) -> Reply:
    found = api.store.catalog.in_version(group, version)
    reviews = [row for row in _REVIEWS if row[0] == group and version == "v1"]
    if not found and not reviews:
        raise no_such_path()
    listed = [entry for resource, served in found for entry in _plain(resource, served)]
    listed += [
        {
            "name": plural,
            "singularName": kind.lower(),
            "namespaced": False,
            "kind": kind,
            "verbs": ["create"],
        }
        for _, plural, kind in reviews
    ]
    name = f"{group}/{version}" if group else version
    return reply(
        {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": listed}
    )


def _plain(resource: Resource, served: ServedVersion) -> list[Object]:
    made: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
        "storageVersionHash": _hash(f"{resource.key}/{resource.storage}"),
    }
    made |= _other_names(resource)
    below = [
        {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind,
            "verbs": _SUBRESOURCE_VERBS,
            **({"group": "autoscaling", "version": "v1"} if name == "scale" else {}),
        }
        for name, kind in _subresources(resource, served)
    ]
    return [made, *below]


def _other_names(resource: Resource) -> Object:
    names = {"shortNames": resource.short_names, "categories": resource.categories}
    return {word: list(found) for word, found in names.items() if found}


def _subresources(resource: Resource, served: ServedVersion) -> list[tuple[str, str]]:
    found = [("status", resource.kind)] if served.has_status else []
    return [*found, ("scale", "Scale")] if served.scale is not None else found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _aggregated(api: Api, *, core: bool) -> Reply:
    items = [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [_version(api, group, name) for name in versions],
        }
        for group, versions in _groups(api).items()
        if bool(group) is not core
    ]
    body = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }
    return Reply(body=encoded(body), content_type=_AGGREGATED)


def _version(api: Api, group: str, version: str) -> Object:
    resources = [
        _discovered(resource, served, group, version)
        for resource, served in api.store.catalog.in_version(group, version)
    ]
    resources += [
        {
            "resource": plural,
            "responseKind": {"group": group, "version": version, "kind": kind},
            "scope": "Cluster",
            "singularResource": kind.lower(),
            "verbs": ["create"],
        }
        for review_group, plural, kind in _REVIEWS
        if review_group == group
    ]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _discovered(resource: Resource, served: ServedVersion, group: str, version: str) -> Object:
    made: Object = {
        "resource": resource.plural,
        "responseKind": {"group": group, "version": version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    made |= _other_names(resource)
    below = [
        {
            "subresource": name,
            "responseKind": {"group": group, "version": version, "kind": kind}
            if kind != "Scale"
            else {"group": "autoscaling", "version": "v1", "kind": "Scale"},
            "verbs": _SUBRESOURCE_VERBS,
        }
        for name, kind in _subresources(resource, served)
    ]
    if below:
        made["subresources"] = below
    return made
