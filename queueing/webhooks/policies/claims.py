"""The mutating policy that gives pods their resource claims; webhooks evaluate it elsewhere.

JSON patches with plain maps: the API server fails a request whose patch holds a list of object
literals. There is one mutation, because the server spells the pod out, reads it back and defaults
it anew for each. So all patches speak of the pod as it came: room is made first in lists that are
not there yet, and everything else is appended. A comprehension of the policy language cannot
flatten, hence a part for each resource that there may be.
"""

from collections.abc import Iterator
from typing import Any, Final

from queueing.devices.rules.containers import SIDECAR
from queueing.webhooks import pods
from queueing.webhooks.patches import added, unless
from queueing.webhooks.policies.demand import Mutation
from queueing.webhooks.policies.pairs import of_pods

Wire = dict[str, Any]

NAME: Final = "queueing-inject-claims"
_NOTES: Final = "object.metadata.annotations"


def _listed(name: str) -> str:
    return f"'{name}' in {_NOTES} ? {_NOTES}['{name}'].split(',') : []"


_CONDITIONS: Final = {
    "named": f"has({_NOTES}) && '{pods.RESOURCES}' in {_NOTES}"
    f" && ('{pods.TEMPLATE}' in {_NOTES} || '{pods.SHARED}' in {_NOTES})",
    "not-yet": "!has(object.spec.resourceClaims)"
    f" || !object.spec.resourceClaims.exists(c, c.name == '{pods.CLAIM}')",
}
_PARTS: Final = {pods.INIT: "inits", "containers": "containers"}
"""Lists of a pod's containers, and the variable that holds each, empty where there is none."""
_VARIABLES: Final = {
    "resources": _listed(pods.RESOURCES),
    "templates": _listed(pods.TEMPLATE),
    "shared": _listed(pods.SHARED),
    **{name: f"has(object.spec.{part}) ? object.spec.{part} : []" for part, name in _PARTS.items()},
    **{f"{name}Names": f"variables.{name}.map(c, c.name)" for name in _PARTS.values()},
}


def render() -> list[Wire]:
    """Return the policy and its binding: what is labelled must not start without its claims."""
    return list(of_pods(NAME, CLAIMS, failure="Fail"))


def _patches() -> Iterator[str]:
    """Yield lists of patches, in their order.

    The channel of a ComputeDomain is for those who ask for any device: it comes before all.
    """
    yield unless("has(object.spec.resourceClaims)", added(["spec", "resourceClaims"], "[]"))
    yield from (_room(part) for part in _PARTS)
    channel = f"string({_NOTES}['{pods.CHANNEL}'])"
    entry = f'{{"name": "{pods.CHANNEL_CLAIM}", "resourceClaimTemplateName": {channel}}}'
    entered = " + ".join((*(_enter(part) for part in _PARTS), _append(entry)))
    yield f"('{pods.CHANNEL}' in {_NOTES} ? {entered} : [])"
    for number in range(pods.SLOTS):
        name = pods.claim_name(number)
        swapped = (_swap(part, number, name) for part in _PARTS)
        parts = " + ".join((*swapped, _append(_claim(number, name))))
        yield f"(size(variables.resources) > {number} ? {parts} : [])"
    names = "object.spec.schedulingGates.map(g, g.name)"
    yield (
        f"(has(object.spec.schedulingGates) && {names}.exists(n, n == '{pods.GATE}')"
        ' ? [JSONPatch{op: "remove", path: "/spec/schedulingGates/"'
        f" + string({names}.indexOf('{pods.GATE}'))}}] : [])"
    )


def _append(value: str) -> str:
    """Return the patch that adds to the list of the pod's claims."""
    return added(["spec", "resourceClaims", "-"], value)


def _claim(number: int, name: str) -> str:
    """Return the entry of the pod's claims: of a template, else the one that is shared."""

    def entry(kind: str, listed: str) -> str:
        return f'{{"name": "{name}", "{kind}": variables.{listed}[{number}]}}'

    made = f"size(variables.templates) > {number} && variables.templates[{number}] != ''"
    template = entry("resourceClaimTemplateName", "templates")
    return f"({made} ? {template} : {entry('resourceClaimName', 'shared')})"


def _asks(one: str, resource: str, where: str = "requests") -> str:
    listed = f"{one}.resources.{where}"
    return (
        f"has({one}.resources) && has({listed})"
        f" && {resource} in {listed} && {listed}[{resource}] != '0'"
    )


def _asking(part: str, test: str, path: str, value: str = "") -> str:
    """Return a patch for each container `c` of a list that passes a test."""
    index = f"string(variables.{_PARTS[part]}Names.indexOf(c.name))"
    where = f'path: "/spec/{part}/" + {index} + "/resources/{path}'
    patch = f'op: "add", {where}, value: {value}' if value else f'op: "remove", {where}'
    return f"variables.{_PARTS[part]}.filter(c, {test}).map(c, JSONPatch{{{patch}}})"


def _room(part: str) -> str:
    """Return the patches that give a list of claims to containers that will use some."""
    asks = f"variables.resources.exists(r, {_asks('c', 'r')})"
    return _asking(part, f"{asks} && !has(c.resources.claims)", 'claims"', "[]")


def _enter(part: str) -> str:
    """Return the patches that give the channel to containers that ask for any device."""
    asks = f"variables.resources.exists(r, {_asks('c', 'r')})"
    return _asking(part, asks, 'claims/-"', f'{{"name": "{pods.CHANNEL_CLAIM}"}}')


def _swap(part: str, number: int, name: str) -> str:
    """Return the patches that swap one resource of a list of containers for requests of a claim."""
    resource = f"variables.resources[{number}]"
    key = f'" + jsonpatch.escapeKey({resource})'
    request = f'{{"name": "{name}", "request": {_request(part, resource)}}}'
    asks = _asks("c", resource)
    return " + ".join(
        (
            _asking(part, _asks("c", resource, "limits"), f"limits/{key}"),
            _asking(part, asks, 'claims/-"', request),
            _asking(part, asks, f"requests/{key}"),
        )
    )


def _request(part: str, resource: str) -> str:
    """Return the name of the request that container `c` of a list uses."""

    def first(part: str, *also: str) -> str:
        same = f"m.resources.requests[{resource}] == c.resources.requests[{resource}]"
        test = " && ".join((_asks("m", resource), same, *also))
        return f"variables.{_PARTS[part]}.map(m, {test}).indexOf(true)"

    own = f"string(variables.{_PARTS[part]}Names.indexOf(c.name))"
    if part != pods.INIT:
        return f'"c" + {own}'
    sidecar = f"has(%s.restartPolicy) && %s.restartPolicy == '{SIDECAR}'"
    alike = first(part, "!(" + sidecar.replace("%s", "m") + ")")
    return (
        f'({sidecar.replace("%s", "c")} ? "i" + {own}'
        f' : {first("containers")} >= 0 ? "c" + string({first("containers")})'
        f' : "i" + string({alike}))'
    )


CLAIMS: Final = Mutation(
    label=pods.INJECT,
    conditions=_CONDITIONS,
    variables=_VARIABLES,
    patches=" + ".join(_patches()),
)
