"""Suspension, defaulting and validation as admission policies: how they are written. Pure.

All policies belong to the definition of Workloads, so that they go with an installation. The server
runs them in an order of its own, and runs those again that it ran before another one changed the
object. So a policy may rely in its expression on what another one fills in, but not in its
conditions: one that was passed over is not asked again. The last one applied is a probe: it answers
only for dry runs in our own namespace, with a digest of all that change something, and so tells
when the server goes by them.
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
"""Since which Kubernetes 1.x servers have mutating policies."""

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
MUTATING = {one.kind: one for one in (MUTATING_POLICIES, MUTATING_POLICY_BINDINGS)}
VALIDATING = {one.kind: one for one in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS)}
OPTIONAL: dict[str, tuple[Resource, Resource]] = {
    DEFAULT_PRIORITY: (MUTATING_POLICY_BINDINGS, MUTATING_POLICIES),
    FLAVORS_OF_CHECKS.name: (VALIDATING_POLICY_BINDINGS, VALIDATING_POLICIES),
}
"""Policies that a feature gate switches, with the kinds of binding and policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """What the policies depend on."""

    namespaces: Selector
    without_queue_name: bool
    namespace: str
    """Our own, where the probe is tried."""
    service: str = "kueue-webhook-service"
    """Service by which the API server calls webhooks."""
    default_class: bool = True
    """Whether queued Jobs get the WorkloadPriorityClass named `default`."""
    reject_unknown_flavors: bool = False
    """Whether a ClusterQueue is refused on update when its checks name flavors that it has not."""


def render(rules: PolicyRules) -> Rendered:
    """Return the policies and their bindings, in the order in which they must be applied."""
    made = [one for policy in _mutating(rules) for one in policy]
    made += [(MUTATING[wire["kind"]], wire) for wire in claims.render()]
    digest = blake2b(msgspec.json.encode([wire for _, wire in made]), digest_size=8).hexdigest()
    return [*made, *_probe(rules, digest)]


def digest_of(rendered: Rendered) -> str:
    """Return the digest that the probe answers with."""
    policy = rendered[-2][1]
    return str(policy["metadata"]["annotations"][PROBE_LABEL])


def _mutating(rules: PolicyRules) -> Iterator[Pair]:
    everywhere = selector_wire(rules.namespaces)
    managed = f"({_LABELLED}) || ({_NOBODYS})" if rules.without_queue_name else _LABELLED
    yield _pair(
        "queueing-suspend-jobs",
        # Most Jobs come suspended: rewriting one makes the server run all its plugins again.
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
    """Return the policies that refuse, and their bindings."""
    return [(VALIDATING[wire["kind"]], wire) for wire in validation.render(scope_of(rules))]


def scope_of(rules: PolicyRules, minor: int = MINOR_MIN) -> Scope:
    """Return whom webhooks and validating policies ask about, on a server of a version."""
    return Scope(
        namespaces=rules.namespaces,
        without_queue_name=rules.without_queue_name,
        namespace=rules.namespace,
        service=rules.service,
        reject_unknown_flavors=rules.reject_unknown_flavors,
        minor=minor,
    )
