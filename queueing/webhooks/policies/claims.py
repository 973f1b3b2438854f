"""The mutating policy that gives pods their resource claims, rendered from `webhooks.pods`.

JSON patches with plain maps: the API server fails a request whose patch holds a list of object
literals. A comprehension of the policy language cannot flatten, so there is one mutation for each
resource slot and list of containers; the server runs them one after the other, each on what the
one before has left.
"""

from collections.abc import Iterator
from typing import Any, Final

from queueing.webhooks import pods

Wire = dict[str, Any]

NAME: Final = "queueing-inject-claims"
API_VERSION: Final = "admissionregistration.k8s.io/v1"
_RESOURCES: Final = f"object.metadata.annotations['{pods.RESOURCES}'].split(',')"
_TEMPLATE: Final = f"string(object.metadata.annotations['{pods.TEMPLATE}'])"
_CONDITIONS: Final = {
    "named": "has(object.metadata.annotations)"
    f" && '{pods.TEMPLATE}' in object.metadata.annotations"
    f" && '{pods.RESOURCES}' in object.metadata.annotations",
    "not-yet": "!has(object.spec.resourceClaims)"
    f" || !object.spec.resourceClaims.exists(c, c.name == '{pods.CLAIM}')",
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
        "variables": [
            {"name": "resources", "expression": _RESOURCES},
            {"name": "template", "expression": _TEMPLATE},
        ],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": text}} for text in _mutations()
        ],
    }
    return [
        _object("MutatingAdmissionPolicy", spec),
        _object("MutatingAdmissionPolicyBinding", {"policyName": NAME}),
    ]


def _mutations() -> Iterator[str]:
    """Yield the patches in their order; the claim comes last, and with it `not-yet` is untrue."""
    for slot in range(pods.SLOTS):
        for part in pods.PARTS:
            yield _swap(part, slot)
    yield _append("resourceClaims", _CLAIM)
    yield _ungate()


_CLAIM: Final = f'{{"name": "{pods.CLAIM}", "resourceClaimTemplateName": variables.template}}'


def _append(field: str, value: str) -> str:
    """Return the patch that adds to a list of the pod's spec, which may not be there."""
    path = f"/spec/{field}"
    return (
        f"has(object.spec.{field})"
        f' ? [JSONPatch{{op: "add", path: "{path}/-", value: {value}}}]'
        f' : [JSONPatch{{op: "add", path: "{path}", value: [{value}]}}]'
    )


def _ungate() -> str:
    names = "object.spec.schedulingGates.map(g, g.name)"
    return (
        f"has(object.spec.schedulingGates) && {names}.exists(n, n == '{pods.GATE}')"
        ' ? [JSONPatch{op: "remove", path: "/spec/schedulingGates/"'
        f" + string({names}.indexOf('{pods.GATE}'))}}] : []"
    )


def _swap(part: str, slot: int) -> str:
    """Return the patch that swaps one resource of a list of containers for requests."""
    there = f"has(object.spec.{part}) && size(variables.resources) > {slot}"
    resource = f"variables.resources[{slot}]"
    index = f"string(object.spec.{part}.map(x, x.name).indexOf(c.name))"
    base = f'"/spec/{part}/" + {index} + "/resources'
    begin = f'"{pods.PARTS[part]}" + {index}'
    name = f'{begin} + "-{slot}"' if slot else begin
    request = f'{{"name": "{pods.CLAIM}", "request": {name}}}'

    def asking(where: str) -> str:
        return (
            f"object.spec.{part}.filter(c, has(c.resources) && has(c.resources.{where})"
            f" && {resource} in c.resources.{where})"
        )

    def removed(where: str) -> str:
        path = f'{base}/{where}/" + jsonpatch.escapeKey({resource})'
        return f'{asking(where)}.map(c, JSONPatch{{op: "remove", path: {path}}})'

    claimed = (
        f'{asking("requests")}.map(c, JSONPatch{{op: "add",'
        f' path: {base}/claims" + (has(c.resources.claims) ? "/-" : ""),'
        f" value: has(c.resources.claims) ? dyn({request}) : dyn([{request}])}})"
    )
    return f"{there} ? {removed('limits')} + {claimed} + {removed('requests')} : []"


def _object(kind: str, spec: Wire) -> Wire:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": NAME}, "spec": spec}
