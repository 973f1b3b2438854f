"""Adds webhooks for Jobs and their pods on servers without MutatingAdmissionPolicies.

The manifests of an installation do not know the version of the server, so they contain only the
webhooks that every version needs. The leader adds those for Jobs and pods to the installed webhook
configurations where they are needed, and removes them after an upgrade of the server. Where no
webhooks are installed, none are added: then Jobs are suspended when they are seen running, and pods
that need a claim stay gated.
"""

import logging
from dataclasses import replace
from typing import Any

import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Target
from queueing.webhooks import configurations
from queueing.webhooks.scope import MINOR_WITH_MUTATING_POLICIES, Scope

logger = logging.getLogger(__name__)

Wire = dict[str, Any]
_OLD = MINOR_WITH_MUTATING_POLICIES - 1
_RESOURCES = {one.kind: one for one in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)}


async def follow(client: Client, scope: Scope) -> bool:
    """Add or remove these webhooks, by the server's version in `scope`.

    Returns whether any webhook configuration is installed. Raises KubeError to be called again,
    also when somebody else changed a configuration at the same time.
    """
    wanted = configurations.render(scope)
    old = configurations.render(replace(scope, minor=_OLD))
    new = configurations.render(replace(scope, minor=MINOR_WITH_MUTATING_POLICIES))
    installed = False
    for now, before, after in zip(wanted, old, new, strict=True):
        ours = _names(before) - _names(after)
        hooks = [hook for hook in now["webhooks"] if hook["name"] in ours]
        target = _RESOURCES[now["kind"]].at(now["metadata"]["name"])
        installed |= await _mend(client, target, ours, hooks)
    return installed


async def _mend(client: Client, target: Target, ours: set[str], hooks: list[Wire]) -> bool:
    """Make `hooks` the only ones of the names `ours` in one configuration; False without it."""
    try:
        found = msgspec.json.decode(await client.get(target))
    except NotFoundError:
        return False
    present = found.get("webhooks") or []
    mine = {one["name"]: one for one in present if one["name"] in ours or _is_of_a_kind(one)}
    others = [hook for hook in present if hook["name"] not in mine]
    if not others:
        return False
    like = others[0]["clientConfig"]
    made = [_beside(hook, mine.get(hook["name"], {}).get("clientConfig", like)) for hook in hooks]
    if _digest(made) != _digest(list(mine.values())):
        test = {"path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]}
        change = {"op": "replace", "path": "/webhooks", "value": [*others, *made]}
        await client.patch_json(target, [{"op": "test", **test}, change])
        logger.info("%s: %d webhooks about Jobs and pods", target.label, len(made))
    return True


def _is_of_a_kind(hook: Wire) -> bool:
    """Say whether a webhook is about a kind that is on, or was, or about pods."""
    client = hook["clientConfig"]
    path = str(client.get("url") or client.get("service", {}).get("path"))
    begun = (configurations.BY_FIELD, configurations.OF_MARKS, configurations.GATES_OF_PODS)
    return any(f"/mutate-{one}" in path for one in begun)


def _beside(hook: Wire, like: Wire) -> Wire:
    """Return a hook with the service, namespace and CA bundle of another one, `like`."""
    path = hook["clientConfig"]["service"]["path"]
    service = {**hook["clientConfig"]["service"], **like.get("service", {}), "path": path}
    return {**hook, "clientConfig": {**like, "service": service}}


def _digest(hooks: list[Wire]) -> list[tuple[object, ...]]:
    """Return the fields of hooks that we set; the server fills in the others."""
    return [
        (
            hook["name"],
            hook["rules"][0]["operations"],
            hook["failurePolicy"],
            hook.get("namespaceSelector") or None,
            hook.get("objectSelector") or None,
            hook.get("matchConditions"),
            hook["clientConfig"].get("service", {}).get("path"),
        )
        for hook in hooks
    ]


def _names(configuration: Wire) -> set[str]:
    return {hook["name"] for hook in configuration["webhooks"]}
