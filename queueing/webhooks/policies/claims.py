"""The mutating policy that gives pods their resource claims, rendered from `webhooks.pods`.

JSON patches with plain maps: the API server fails a request whose patch holds a list of object
literals. A comprehension of the policy language cannot flatten, so there is one mutation for each
resource; the server runs them one after the other, each on what the one before has left.
"""

from collections.abc import Iterator
from typing import Any, Final

from queueing.translate.devices.containers import SIDECAR
from queueing.webhooks import pods

Wire = dict[str, Any]

NAME: Final = "queueing-inject-claims"
API_VERSION: Final = "admissionregistration.k8s.io/v1"
_NOTES: Final = "object.metadata.annotations"


def _listed(name: str) -> str:
    return f"'{name}' in {_NOTES} ? {_NOTES}['{name}'].split(',') : []"


_CONDITIONS: Final = {
    "named": f"has({_NOTES}) && '{pods.RESOURCES}' in {_NOTES}"
    f" && ('{pods.TEMPLATE}' in {_NOTES} || '{pods.SHARED}' in {_NOTES})",
    "not-yet": "!has(object.spec.resourceClaims)"
    f" || !object.spec.resourceClaims.exists(c, c.name == '{pods.CLAIM}')",
}
_VARIABLES: Final = {
    "resources": _listed(pods.RESOURCES),
    "templates": _listed(pods.TEMPLATE),
    "shared": _listed(pods.SHARED),
}


def render() -> list[Wire]:
    """Return the policy and its binding."""
    spec: Wire = {
        # Closed on failure: what is labelled for it must not start without its claims.
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["pods"],
                }
            ],
            "objectSelector": {"matchExpressions": [{"key": pods.INJECT, "operator": "Exists"}]},
        },
        "matchConditions": [
            {"name": name, "expression": text} for name, text in _CONDITIONS.items()
        ],
        "variables": [{"name": name, "expression": text} for name, text in _VARIABLES.items()],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": text}} for text in _mutations()
        ],
    }
    return [
        _object("MutatingAdmissionPolicy", spec),
        _object("MutatingAdmissionPolicyBinding", {"policyName": NAME}),
    ]


def _mutations() -> Iterator[str]:
    """Yield the patches in their order: as few as can be, for the server copies the pod for each.

    The channel of a ComputeDomain is for those who ask for any device: it comes before all.
    """
    channel = f"string({_NOTES}['{pods.CHANNEL}'])"
    entry = f'{{"name": "{pods.CHANNEL_CLAIM}", "resourceClaimTemplateName": {channel}}}'
    entered = _everywhere(_enter(pods.INIT), _enter("containers"), _append(entry))
    yield f"'{pods.CHANNEL}' in {_NOTES} ? {entered} : []"
    for number in range(pods.SLOTS):
        name = pods.Slot(number, "", "", "").name
        inits, containers = _swap(pods.INIT, number, name), _swap("containers", number, name)
        swapped = _everywhere(inits, containers, _append(_claim(number, name)))
        yield f"size(variables.resources) > {number} ? {swapped} : []"
    names = "object.spec.schedulingGates.map(g, g.name)"
    yield (
        f"has(object.spec.schedulingGates) && {names}.exists(n, n == '{pods.GATE}')"
        ' ? [JSONPatch{op: "remove", path: "/spec/schedulingGates/"'
        f" + string({names}.indexOf('{pods.GATE}'))}}] : []"
    )


def _everywhere(inits: str, containers: str, claims: str) -> str:
    """Join the patches of init containers, if there are any, of containers, and of the claims."""
    return f"((has(object.spec.{pods.INIT}) ? {inits} : []) + {containers} + ({claims}))"


def _claim(number: int, name: str) -> str:
    """Return the entry of the pod's claims: of a template, else the one that is shared."""

    def entry(kind: str, listed: str) -> str:
        return f'{{"name": "{name}", "{kind}": variables.{listed}[{number}]}}'

    made = f"size(variables.templates) > {number} && variables.templates[{number}] != ''"
    template = entry("resourceClaimTemplateName", "templates")
    return f"({made} ? {template} : {entry('resourceClaimName', 'shared')})"


def _append(value: str) -> str:
    """Return the patch that adds to the list of the pod's claims, which may not be there."""
    path = "/spec/resourceClaims"
    return (
        "has(object.spec.resourceClaims)"
        f' ? [JSONPatch{{op: "add", path: "{path}/-", value: {value}}}]'
        f' : [JSONPatch{{op: "add", path: "{path}", value: [{value}]}}]'
    )


def _asks(one: str, resource: str, where: str = "requests") -> str:
    listed = f"{one}.resources.{where}"
    return (
        f"has({one}.resources) && has({listed})"
        f" && {resource} in {listed} && {listed}[{resource}] != '0'"
    )


def _request(part: str, resource: str) -> str:
    """Return the name of the request that container `c` of a list uses."""

    def first(part: str, *also: str) -> str:
        same = f"m.resources.requests[{resource}] == c.resources.requests[{resource}]"
        test = " && ".join((_asks("m", resource), same, *also))
        return f"object.spec.{part}.map(m, {test}).indexOf(true)"

    own = f"string(object.spec.{part}.map(x, x.name).indexOf(c.name))"
    if part != pods.INIT:
        return f'"c" + {own}'
    sidecar = f"has(%s.restartPolicy) && %s.restartPolicy == '{SIDECAR}'"
    alike = first(part, "!(" + sidecar.replace("%s", "m") + ")")
    return (
        f'({sidecar.replace("%s", "c")} ? "i" + {own}'
        f' : {first("containers")} >= 0 ? "c" + string({first("containers")})'
        f' : "i" + string({alike}))'
    )


def _swap(part: str, number: int, name: str) -> str:
    """Return the patches that swap one resource of a list of containers for requests of a claim."""
    resource = f"variables.resources[{number}]"
    base = _resources(part)
    request = f'{{"name": "{name}", "request": {_request(part, resource)}}}'

    def asking(where: str) -> str:
        return f"object.spec.{part}.filter(c, {_asks('c', resource, where)})"

    def removed(where: str) -> str:
        path = f'{base}/{where}/" + jsonpatch.escapeKey({resource})'
        return f'{asking(where)}.map(c, JSONPatch{{op: "remove", path: {path}}})'

    claimed = f"{asking('requests')}.map(c, {_claim_of(part, request)})"
    return f"{removed('limits')} + {claimed} + {removed('requests')}"


def _enter(part: str) -> str:
    """Return the patches that give the channel to containers that ask for any device."""
    asking = f"variables.resources.exists(r, {_asks('c', 'r')})"
    request = f'{{"name": "{pods.CHANNEL_CLAIM}"}}'
    return f"object.spec.{part}.filter(c, {asking}).map(c, {_claim_of(part, request)})"


def _resources(part: str) -> str:
    """Return the path of the resources of container `c`, as the beginning of a text."""
    index = f"string(object.spec.{part}.map(x, x.name).indexOf(c.name))"
    return f'"/spec/{part}/" + {index} + "/resources'


def _claim_of(part: str, request: str) -> str:
    """Return the patch that adds to the claims of container `c`, which may have none."""
    return (
        f'JSONPatch{{op: "add", path: {_resources(part)}/claims" + (has(c.resources.claims) ? "/-"'
        f' : ""), value: has(c.resources.claims) ? dyn({request}) : dyn([{request}])}}'
    )


def _object(kind: str, spec: Wire) -> Wire:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": NAME}, "spec": spec}
