"""Renders suspension, defaulting and validation as admission policies. Pure.

The server runs mutating policies in an order of its own. It runs a policy again if a later one
changed the object (`reinvocationPolicy: IfNeeded`), but not one whose match conditions were false.
So a policy's expression may rely on what another policy fills in; its conditions must not.

The last policy that is applied is a probe. It marks dry runs in our own namespace with a digest of
all mutating policies, which shows when the server uses them.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from queueing.translate.jobs.pods.view import Pods
from queueing.translate.labels import NAMESPACE, PRIORITY_CLASS, QUEUE_NAME
from queueing.webhooks.jobs import labelled_itself, owners, without_owner
from queueing.webhooks.marking import is_its_own, marking
from queueing.webhooks.patches import labelled, when
from queueing.webhooks.policies import claims, gating, traced
from queueing.webhooks.policies import render as validation
from queueing.webhooks.policies.gating import HAS_QUEUE, NO_QUEUE
from queueing.webhooks.policies.pairs import by_patches, mutating, named
from queueing.webhooks.scope import Scope, selector_wire
from queueing.webhooks.suspension import (
    JOB,
    POD,
    MarkedKind,
    OwnerKind,
    QueuedKind,
    by_field,
    in_order,
    is_suspended,
    marked,
    name_with,
    suspending,
)

PROBE_LABEL = "queueing.dev/policy-probe"
DEFAULT_PRIORITY = "queueing-default-priority"
MINOR_MIN = 36
"""The first Kubernetes 1.x with MutatingAdmissionPolicies."""

_UNCLASSED = f"!has(object.metadata.labels) || !('{PRIORITY_CLASS}' in object.metadata.labels)"

Wire = dict[str, Any]
Pair = tuple[tuple[Resource, Wire], tuple[Resource, Wire]]
"""A policy and its binding."""
Rendered = list[tuple[Resource, Wire]]
"""Objects to be applied, in order, each with its kind."""
MUTATING = {one.kind: one for one in (MUTATING_POLICIES, MUTATING_POLICY_BINDINGS)}
VALIDATING = {one.kind: one for one in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """What the policies depend on."""

    namespaces: Selector
    without_queue_name: bool
    namespace: str
    """The namespace of this installation, where the probe is tried."""
    kinds: tuple[QueuedKind, ...] = (JOB,)
    """Kinds that are on."""
    pods: Pods = Pods.NONE
    """Pods that are queued."""
    service: str = "kueue-webhook-service"
    """Name of the Service by which the API server calls webhooks."""
    default_class: bool = True
    """Whether queued Jobs without a WorkloadPriorityClass get the one named `default`."""
    reject_unknown_flavors: bool = False
    """Whether an update of a ClusterQueue is refused whose checks name flavors that it lacks."""
    hands_trace: bool = True
    """Whether the containers of pods get the trace that these are part of as a variable."""


def render(rules: PolicyRules) -> Rendered:
    """Return the mutating policies and their bindings, in the order in which to apply them."""
    made = [one for policy in _mutating(rules) for one in policy]
    pods = gating.render(
        rules.pods, rules.namespaces, rules.kinds, without_queue_name=rules.without_queue_name
    )
    traces = traced.render() if rules.hands_trace else ()
    made += [(MUTATING[wire["kind"]], wire) for wire in (*claims.render(), *traces, *pods)]
    digest = blake2b(msgspec.json.encode([wire for _, wire in made]), digest_size=8).hexdigest()
    return [*made, *_probe(rules, digest)]


def digest_of(rendered: Rendered) -> str:
    """Return the digest with which the probe among the rendered policies marks dry runs."""
    policy = rendered[-2][1]
    return str(policy["metadata"]["annotations"][PROBE_LABEL])


def _mutating(rules: PolicyRules) -> Iterator[Pair]:
    everywhere, nobodys = selector_wire(rules.namespaces), without_owner(owners(rules.kinds))
    itself = labelled_itself(HAS_QUEUE, rules.kinds)
    managed = f"({itself}) || ({nobodys})" if rules.without_queue_name else itself
    for field, kinds in by_field(rules.kinds).items():
        yield _pair(
            name_with("queueing-suspend-jobs", field),
            # Not for those that come suspended, as most do: a change makes the server run all
            # admission plugins again.
            {"managed": managed, "runs": f"!{is_suspended(field)}"},
            by_patches(suspending(field)),
            _created(kinds, everywhere),
        )
        yield _pair(
            name_with("queueing-default-queue", field),
            {"without-queue": NO_QUEUE, "without-owner": nobodys},
            by_patches(f"{labelled(QUEUE_NAME, 'default')} + {suspending(field)}"),
            _created(kinds, everywhere),
            "LocalQueue",
        )
    yield from _marking(rules, everywhere, managed, nobodys)
    classed = [*rules.kinds, *([POD] if rules.pods is Pods.ALL else [])]
    if not rules.default_class or not classed:
        return
    yield _pair(
        DEFAULT_PRIORITY,
        {"without-class": _UNCLASSED},
        by_patches(when(HAS_QUEUE, labelled(PRIORITY_CLASS, "default"))),
        _created(in_order(classed), everywhere),
        "WorkloadPriorityClass",
    )


def _marking(rules: PolicyRules, everywhere: Wire, managed: str, nobodys: str) -> Iterator[Pair]:
    """Yield what marks the templates of pods that are queued, and gives their owners a queue.

    The queue and the class that others fill in are copied when a policy is run again, hence no
    condition about them.
    """
    for kind in marked(rules.kinds):
        own = {"its-own": is_its_own(kind)}
        marks = _pair(
            f"queueing-mark-{kind.plural}",
            own,
            by_patches(when(managed, marking(kind.through))),
            _created([kind], everywhere),
        )
        # What is not marked would run, and nobody would stop it.
        marks[0][1]["spec"]["failurePolicy"] = "Fail"
        yield marks
        yield _pair(
            f"queueing-default-queue-{kind.plural}",
            {**own, "without-queue": NO_QUEUE, "without-owner": nobodys},
            by_patches(labelled(QUEUE_NAME, "default")),
            _created([kind], everywhere),
            "LocalQueue",
        )


def _created(kinds: Iterable[QueuedKind], namespaces: Wire) -> Wire:
    """Return the constraints of a policy on the creation of objects of some kinds.

    Those whose pods are queued may be given a queue later as well.
    """
    rules = [
        {**one.rule, "operations": ["CREATE", *(["UPDATE"] if isinstance(one, MarkedKind) else [])]}
        for one in kinds
        if not isinstance(one, OwnerKind)
    ]
    return {"namespaceSelector": namespaces, "resourceRules": rules}


def _probe(rules: PolicyRules, digest: str) -> Pair:
    annotation = f"metadata: Object.metadata{{annotations: {{'{PROBE_LABEL}': '{digest}'}}}}"
    tried = f"'{PROBE_LABEL}' in object.metadata.labels && request.dryRun"
    policy, binding = _pair(
        "queueing-policy-probe",
        {"probe": f"has(object.metadata.labels) && {tried}"},
        {
            "patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": f"Object{{{annotation}}}"},
        },
        _created([JOB], {"matchLabels": {NAMESPACE: rules.namespace}}),
    )
    policy[1]["metadata"]["annotations"] = {PROBE_LABEL: digest}
    return policy, binding


def _pair(
    name: str,
    conditions: Mapping[str, str],
    mutation: Wire,
    constraints: Wire,
    parameter: str = "",
) -> Pair:
    """Return a policy and its binding.

    `parameter` is the kind of the object named `default` without which nothing is changed.
    """
    spec: Wire = {
        "failurePolicy": "Ignore",
        "matchConstraints": constraints,
        "matchConditions": named(conditions),
    }
    policy, binding = mutating(name, spec, mutation, parameter=parameter)
    return (MUTATING_POLICIES, policy), (MUTATING_POLICY_BINDINGS, binding)


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
        kinds=rules.kinds,
        pods=rules.pods,
        reject_unknown_flavors=rules.reject_unknown_flavors,
        minor=minor,
    )
