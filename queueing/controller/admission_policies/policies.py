"""Suspension, defaulting and validation as admission policies: rendered, applied, and tried.

Since Kubernetes 1.36 the API server itself suspends managed Jobs as our rules say, without asking
anybody; that it refuses what they refuse is older. All policies belong to the definition of
Workloads, so that they go with an installation. The server runs them in an order of its own, and
runs those again that it ran before another one changed the object. So a policy may rely in its
expression on what another one fills in, but not in its conditions: one that was passed over is not
asked again. The last one applied is a probe: it answers only for
dry runs in our own namespace, with a digest of all that change something, and so tells when the
server goes by them.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from queueing.controller.admission_policies import job_webhooks
from queueing.controller.admission_policies.injection import BLIND_S, until_injected
from queueing.controller.admission_policies.unchanged import is_unchanged
from queueing.core.selectors import Selector
from queueing.kube.client import Call, Client, Request
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.request import SETUP_TIMEOUT_S
from queueing.kube.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    JOBS,
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    Resource,
)
from queueing.translate.inbound.surroundings import NAMESPACE_LABEL
from queueing.translate.labels import PRIORITY_CLASS, QUEUE_NAME
from queueing.webhooks.jobs import MANAGED_OWNERS
from queueing.webhooks.policies import claims
from queueing.webhooks.policies import render as validation
from queueing.webhooks.policies.quotas import FLAVORS_OF_CHECKS
from queueing.webhooks.scope import Scope, selector_wire

logger = logging.getLogger(__name__)

API_VERSION = "admissionregistration.k8s.io/v1"
PROBE_LABEL = "queueing.dev/policy-probe"
MINOR_MIN = 36
MINOR_OF_VALIDATION = 30
RETRY_S = 1.0

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


Wire = dict[str, Any]


def render(rules: PolicyRules) -> list[tuple[Resource, Wire]]:
    """Return the policies and their bindings, in the order in which they must be applied."""
    made = [one for policy in _policies(rules) for one in policy]
    made += [(_MUTATING[wire["kind"]], wire) for wire in claims.render()]
    digest = blake2b(msgspec.json.encode([wire for _, wire in made]), digest_size=8).hexdigest()
    return [*made, *_probe(rules, digest)]


def digest_of(rendered: list[tuple[Resource, Wire]]) -> str:
    """Return the digest that the probe answers with."""
    policy = rendered[-2][1]
    return str(policy["metadata"]["annotations"][PROBE_LABEL])


Pair = tuple[tuple[Resource, Wire], tuple[Resource, Wire]]


def _policies(rules: PolicyRules) -> Iterator[Pair]:
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
        namespaces={"matchLabels": {NAMESPACE_LABEL: rules.namespace}},
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


def render_validation(rules: PolicyRules) -> list[tuple[Resource, Wire]]:
    """Return the policies that refuse, and their bindings."""
    return [(_VALIDATING[wire["kind"]], wire) for wire in validation.render(scope_of(rules))]


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


There = dict[tuple[Resource, str], Wire]
"""What the server has, by kind and name."""
_MUTATING = {one.kind: one for one in (MUTATING_POLICIES, MUTATING_POLICY_BINDINGS)}
_VALIDATING = {one.kind: one for one in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS)}
DEFAULT_PRIORITY = "queueing-default-priority"
OPTIONAL: dict[str, tuple[Resource, Resource]] = {
    DEFAULT_PRIORITY: (MUTATING_POLICY_BINDINGS, MUTATING_POLICIES),
    FLAVORS_OF_CHECKS.name: (VALIDATING_POLICY_BINDINGS, VALIDATING_POLICIES),
}
"""Policies that a feature gate switches, with the kinds of binding and policy."""
_OWNER = CUSTOM_RESOURCE_DEFINITIONS.at("workloads.kueue.x-k8s.io")


async def minor_version(client: Client) -> int:
    """Return which Kubernetes 1.x the server serves the APIs of; 0 when it is none.

    A server may be told to serve those of an older version than its own.
    """
    version = msgspec.json.decode(await client.send(Request("GET", "/version")))
    told = str(version.get("emulationMinor") or version.get("minor") or "")
    minor = "".join(one for one in told if one.isdecimal())
    if "embedded" in str(version.get("platform", "")) or version.get("major") != "1":
        return 0
    return int(minor or 0)


def _deaf() -> None:
    """Hear nothing."""


async def install(
    client: Client,
    rules: PolicyRules,
    in_force: Callable[[], None],
    injecting: Callable[[], None] = _deaf,
) -> None:
    """Apply the policies, and tell when the server goes by them; ends then.

    `injecting` is told last, when pods were seen to get their claims. Readiness must not wait for
    that: before 1.36 a webhook gives them, and is asked only when its pod is ready.
    """
    rendered = render(rules)
    told, minor = "", 0
    there: There = {}
    while True:
        try:
            minor = await minor_version(client)
            if minor >= MINOR_OF_VALIDATION:
                checks = render_validation(rules)
                there = await _read(client, mutating=minor >= MINOR_MIN)
                await _apply(client, checks, there)
                await _withdraw(client, [*checks, *rendered], there)
            if minor < MINOR_MIN:
                asked = minor > 0 and await job_webhooks.follow(client, scope_of(rules, minor))
                told = "webhooks suspend Jobs" if asked else "Jobs are stopped when seen"
                logger.info("the API server has no mutating policies; %s", told)
                break
            await _apply(client, rendered, there)
            await _answered(client, rules.namespace, digest_of(rendered))
            # Only now: a pod that neither a webhook nor a policy rewrites would stay gated.
            await job_webhooks.follow(client, scope_of(rules, minor))
            logger.info("the API server suspends managed Jobs at creation")
            break
        except KubeError as error:
            if str(error) != told:
                told = str(error)
                logger.warning("the policies could not be applied, trying again: %s", told)
            await asyncio.sleep(RETRY_S)
    in_force()
    if minor:
        await until_injected(client, rules.namespace)
    injecting()


async def _read(client: Client, *, mutating: bool) -> There:
    """Read all policies and bindings of the kinds that the server has."""
    kinds = [*_VALIDATING.values(), *(_MUTATING.values() if mutating else ())]
    return {
        (kind, str(one["metadata"]["name"])): one
        for kind in kinds
        for one in await list_all(client, kind.within(), Wire)
    }


async def _apply(client: Client, rendered: list[tuple[Resource, Wire]], there: There) -> None:
    """Write what is not there as it is rendered, or was edited by hand or by another version."""
    owner = msgspec.json.decode(await client.get(_OWNER))["metadata"]
    reference = {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "name": owner["name"],
        "uid": owner["uid"],
    }
    for resource, wire in rendered:
        owned = {**wire["metadata"], "ownerReferences": [reference]}
        wanted = {**wire, "metadata": owned}
        if not is_unchanged(there.get((resource, owned["name"])), wanted):
            call = Call(force=True, timeout_s=SETUP_TIMEOUT_S)
            await client.apply(resource.at(owned["name"]), wanted, call)


async def _withdraw(client: Client, rendered: list[tuple[Resource, Wire]], there: There) -> None:
    """Delete what an earlier Configuration asked for and this one does not."""
    kept = {wire["metadata"]["name"] for _, wire in rendered}
    for name, kinds in OPTIONAL.items():
        for resource in kinds:
            if name not in kept and (resource, name) in there:
                with suppress(NotFoundError):
                    await client.delete(resource.at(name))


async def _answered(client: Client, namespace: str, digest: str) -> None:
    """Try dry runs until one comes back marked with the digest."""
    call = Call(dry_run=True, timeout_s=SETUP_TIMEOUT_S)
    while True:
        try:
            reply = await client.create(JOBS.within(namespace), _trial(), call)
        except (ForbiddenError, NotFoundError) as error:
            logger.warning("the policies cannot be tried, only waited for: %s", error)
            await asyncio.sleep(BLIND_S)
            return
        annotations = msgspec.json.decode(reply)["metadata"].get("annotations") or {}
        if annotations.get(PROBE_LABEL) == digest:
            return
        await asyncio.sleep(RETRY_S)


def _trial() -> Wire:
    container = {"name": "probe", "image": "probe"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "queueing-policy-probe-", "labels": {PROBE_LABEL: "try"}},
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
