"""Renders suspension, defaulting and validation as admission policies. Pure.

The server runs mutating policies in an order of its own. It runs a policy again if a later one
changed the object (`reinvocationPolicy: IfNeeded`), but not one whose match conditions were false.
So a policy's expression may rely on what another policy fills in; its conditions must not.

The last policy that is applied is a probe. It marks dry runs in our own namespace with a digest of
all mutating policies, which shows when the server uses them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from queueing.core.selectors import Selector
from queueing.kube.resources import (
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    Resource,
)
from queueing.translate.labels import NAMESPACE, PRIORITY_CLASS, QUEUE_NAME
from queueing.webhooks.jobs import MANAGED_OWNERS
from queueing.webhooks.policies import claims
from queueing.webhooks.policies import render as validation
from queueing.webhooks.policies.quotas import FLAVORS_OF_CHECKS
from queueing.webhooks.scope import Scope, selector_wire

API_VERSION = "admissionregistration.k8s.io/v1"
PROBE_LABEL = "queueing.dev/policy-probe"
DEFAULT_PRIORITY = "queueing-default-priority"
MINOR_MIN = 36
"""The first Kubernetes 1.x with MutatingAdmissionPolicies."""

_LABELLED = (
    f"has(object.metadata.labels) && '{QUEUE_NAME}' in object.metadata.labels"
    f" && object.metadata.labels['{QUEUE_NAME}'] != ''"
)
_UNLABELLED = f"!has(object.metadata.labels) || !('{QUEUE_NAME}' in object.metadata.labels)"
_UNCLASSED = f"!has(object.metadata.labels) || !('{PRIORITY_CLASS}' in object.metadata.labels)"
_NOBODYS = (
    "!has(object.metadata.ownerReferences)"
    " || !object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller"
    f" && [o.apiVersion, o.kind] in {[list(one) for one in MANAGED_OWNERS]})"
)
_DEFAULT = {"name": "default", "parameterNotFoundAction": "Allow"}
_SUSPENDED = "spec: Object.spec{suspend: true}"
_RUNS = "!has(object.spec.suspend) || !object.spec.suspend"

Wire = dict[str, Any]
Pair = tuple[tuple[Resource, Wire], tuple[Resource, Wire]]
"""A policy and its binding."""
Rendered = list[tuple[Resource, Wire]]
"""Objects to be applied, in order, each with its kind."""
MUTATING = {one.kind: one for one in (MUTATING_POLICIES, MUTATING_POLICY_BINDINGS)}
VALIDATING = {one.kind: one for one in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS)}
OPTIONAL: dict[str, tuple[Resource, Resource]] = {
    DEFAULT_PRIORITY: (MUTATING_POLICY_BINDINGS, MUTATING_POLICIES),
    FLAVORS_OF_CHECKS.name: (VALIDATING_POLICY_BINDINGS, VALIDATING_POLICIES),
}
"""Policies that a feature gate turns on, by name, with the kinds of their binding and policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """What the policies depend on."""

    namespaces: Selector
    without_queue_name: bool
    namespace: str
    """The namespace of this installation, where the probe is tried."""
    service: str = "kueue-webhook-service"
    """Name of the Service by which the API server calls webhooks."""
    default_class: bool = True
    """Whether queued Jobs without a WorkloadPriorityClass get the one named `default`."""
    reject_unknown_flavors: bool = False
    """Whether an update of a ClusterQueue is refused whose checks name flavors that it lacks."""


def render(rules: PolicyRules) -> Rendered:
    """Return the mutating policies and their bindings, in the order in which to apply them."""
    made = [one for policy in _mutating(rules) for one in policy]
    made += [(MUTATING[wire["kind"]], wire) for wire in claims.render()]
    digest = blake2b(msgspec.json.encode([wire for _, wire in made]), digest_size=8).hexdigest()
    return [*made, *_probe(rules, digest)]


def digest_of(rendered: Rendered) -> str:
    """Return the digest with which the probe among the rendered policies marks dry runs."""
    policy = rendered[-2][1]
    return str(policy["metadata"]["annotations"][PROBE_LABEL])


def _mutating(rules: PolicyRules) -> Iterator[Pair]:
    everywhere = selector_wire(rules.namespaces)
    managed = f"({_LABELLED}) || ({_NOBODYS})" if rules.without_queue_name else _LABELLED
    yield _pair(
        "queueing-suspend-jobs",
        # Not for Jobs that come suspended, as most do: a change makes the server run all
        # admission plugins again.
        [("managed", managed), ("runs", _RUNS)],
        f"Object{{{_SUSPENDED}}}",
        namespaces=everywhere,
    )
    label = f"metadata: Object.metadata{{labels: {{'{QUEUE_NAME}': 'default'}}}}"
    yield _pair(
        "queueing-default-queue",
        [("without-queue", _UNLABELLED), ("without-owner", _NOBODYS)],
        f"Object{{{label}, {_SUSPENDED}}}",
        namespaces=everywhere,
        parameter={
            "kind": {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue"},
            "ref": _DEFAULT,
        },
    )
    if not rules.default_class:
        return
    label = f"metadata: Object.metadata{{labels: {{'{PRIORITY_CLASS}': 'default'}}}}"
    yield _pair(
        DEFAULT_PRIORITY,
        [("without-class", _UNCLASSED)],
        f"({_LABELLED}) ? Object{{{label}}} : Object{{}}",
        namespaces=everywhere,
        parameter={
            "kind": {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass"},
            "ref": _DEFAULT,
        },
    )


def _probe(rules: PolicyRules, digest: str) -> Pair:
    annotation = f"metadata: Object.metadata{{annotations: {{'{PROBE_LABEL}': '{digest}'}}}}"
    tried = f"'{PROBE_LABEL}' in object.metadata.labels && request.dryRun"
    policy, binding = _pair(
        "queueing-policy-probe",
        [("probe", f"has(object.metadata.labels) && {tried}")],
        f"Object{{{annotation}, {_SUSPENDED}}}",
        namespaces={"matchLabels": {NAMESPACE: rules.namespace}},
    )
    policy[1]["metadata"]["annotations"] = {PROBE_LABEL: digest}
    return policy, binding


def _pair(
    name: str,
    conditions: list[tuple[str, str]],
    expression: str,
    *,
    namespaces: Wire,
    parameter: Wire | None = None,
) -> Pair:
    """Return a policy on the creation of Jobs, and its binding."""
    spec: Wire = {
        "matchConstraints": {
            "namespaceSelector": namespaces,
            "resourceRules": [
                {
                    "apiGroups": ["batch"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["jobs"],
                }
            ],
        },
        "matchConditions": [{"name": key, "expression": text} for key, text in conditions],
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": expression},
            }
        ],
    }
    binding: Wire = {"policyName": name}
    if parameter is not None:
        spec["paramKind"] = parameter["kind"]
        binding["paramRef"] = parameter["ref"]
    return (
        (MUTATING_POLICIES, _object("MutatingAdmissionPolicy", name, spec)),
        (MUTATING_POLICY_BINDINGS, _object("MutatingAdmissionPolicyBinding", name, binding)),
    )


def _object(kind: str, name: str, spec: Wire) -> Wire:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def render_validation(rules: PolicyRules) -> Rendered:
    """Return the validating policies and their bindings."""
    return [(VALIDATING[wire["kind"]], wire) for wire in validation.render(scope_of(rules))]


def scope_of(rules: PolicyRules, minor: int = MINOR_MIN) -> Scope:
    """Return which objects webhooks and validating policies apply to, on Kubernetes 1.`minor`."""
    return Scope(
        namespaces=rules.namespaces,
        without_queue_name=rules.without_queue_name,
        namespace=rules.namespace,
        service=rules.service,
        reject_unknown_flavors=rules.reject_unknown_flavors,
        minor=minor,
    )
