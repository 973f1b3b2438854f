"""A policy and its binding, as the API server takes them."""

from collections.abc import Mapping
from typing import Any, Final

from queueing.webhooks.policies.demand import Mutation

Wire = dict[str, Any]

API_VERSION: Final = "admissionregistration.k8s.io/v1"
KUEUE: Final = "kueue.x-k8s.io/v1beta2"


def pair(
    kind: str, name: str, spec: Wire, *, parameter: str = "", **binding: Any
) -> tuple[Wire, Wire]:
    """Return a policy and its binding.

    `parameter` is the kind of the object named `default` without which nothing is done. Without its
    definition it cannot be looked up: objects must not suffer from that.
    """
    binding = {"policyName": name, **binding}
    if parameter:
        named = {"apiVersion": KUEUE, "kind": parameter}
        spec = {**spec, "failurePolicy": "Ignore", "paramKind": named}
        binding["paramRef"] = {"name": "default", "parameterNotFoundAction": "Allow"}
    return _object(kind, name, spec), _object(f"{kind}Binding", name, binding)


def mutating(name: str, spec: Wire, mutation: Wire, *, parameter: str = "") -> tuple[Wire, Wire]:
    """Return a policy that changes objects, and its binding."""
    spec = {**spec, "reinvocationPolicy": "IfNeeded", "mutations": [mutation]}
    return pair("MutatingAdmissionPolicy", name, spec, parameter=parameter)


def of_pods(name: str, mutation: Mutation, *, failure: str) -> tuple[Wire, Wire]:
    """Return a policy that changes new pods with a label, and its binding."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    spec: Wire = {
        "failurePolicy": failure,
        "matchConstraints": {
            "resourceRules": [{**rule, "resources": ["pods"]}],
            "objectSelector": {"matchExpressions": [{"key": mutation.label, "operator": "Exists"}]},
        },
        "matchConditions": named(mutation.conditions),
        "variables": named(mutation.variables),
    }
    return mutating(name, spec, by_patches(mutation.patches))


def by_patches(expression: str) -> Wire:
    """Return a mutation by JSON patches: the server needs no schema of the kind for these."""
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def named(expressions: Mapping[str, str]) -> list[Wire]:
    """Return expressions with their names, in their order."""
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def _object(kind: str, name: str, spec: Wire) -> Wire:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
