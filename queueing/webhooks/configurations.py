"""Webhook configurations under the names of Kueue's own, so that installing one replaces the other.

Invariant: a webhook that is away stops nothing that the API server judges by itself. What it
refuses is refused by definitions and policies as well, and what it fills in on our own kinds the
controller fills in later. Only on servers without mutating policies a queued Job, and no other, has
to wait for us: nobody else would suspend it. There also those pods wait, and no others, that the
admission labelled for a claim: nobody else would give them one.
The CA is filled in by the serving process, which makes the certificate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks.jobs import QUEUE, labelled_itself, owners, without_owner
from queueing.webhooks.marking import is_its_own
from queueing.webhooks.pods import INJECT
from queueing.webhooks.policies.gating import HAS_PARENT
from queueing.webhooks.policies.pods import PODS
from queueing.webhooks.policies.queued import QUEUED
from queueing.webhooks.scope import MINOR_WITH_MUTATING_POLICIES, Scope, selector_wire
from queueing.webhooks.suspension import JOB, MarkedKind, QueuedKind, SuspendedKind, marked

Wire = dict[str, Any]

KUEUE: Final = "kueue.x-k8s.io"
CREATE: Final = ("CREATE",)
WRITE: Final = ("CREATE", "UPDATE")
LABELLED: Final = QUEUED.partition(" || ")[0]
DEFINITIONS: Final = "apiextensions-k8s-io-v1-customresourcedefinition"
"""Path, behind `/validate-`, of the webhook that is told of our removal."""
OF_MARKS: Final = "marks-of-"
"""What begins the path, behind `/mutate-`, of webhooks that mark pod templates."""
GATES_OF_PODS: Final = "gates-of-pods"
"""Path, behind `/mutate-`, of webhooks that queue pods."""
BY_FIELD: Final = "by-"
"""What begins the path, behind `/mutate-`, of webhooks that suspend objects by a field."""
TIMEOUT_S: Final = 5
PATIENCE_S: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    """One webhook: what it is asked about, and what becomes of a request when it is away."""

    kind: str
    resource: str
    operations: Sequence[str] = WRITE
    group: str = KUEUE
    version: str = "v1beta2"
    condition: tuple[str, str] | None = None
    name: str = ""
    at: str = ""
    """Path, behind the verb; empty for that of the kind."""
    of_jobs: bool = False
    """Whether only the namespaces that the Configuration selects are meant."""
    label: str = ""
    """Only objects with this label are asked about; empty for all."""
    failure: str = "Ignore"
    timeout_s: int = TIMEOUT_S
    side_effects: str = "None"
    asks_about_ours: bool = False
    """Our own writes are checked where they are made, and must not depend on ourselves: all but
    the pod by which we try whether pods are changed at all."""

    @property
    def path(self) -> str:
        return self.at or f"{self.group.replace('.', '-')}-{self.version}-{self.kind}"

    @property
    def resources(self) -> list[str]:
        return [self.resource, *(["workloads/status"] if self.kind == "workload" else [])]


_MUTATING: Final = (
    _Hook(kind="resourceflavor", resource="resourceflavors", operations=CREATE),
    _Hook(kind="clusterqueue", resource="clusterqueues", operations=CREATE),
)
_JOB: Final = _Hook(kind="job", resource="jobs", group="batch", version="v1", of_jobs=True)
_POD: Final = _Hook(
    kind="pod",
    resource="pods",
    group="",
    version="v1",
    operations=CREATE,
    label=INJECT,
    # As the policy of newer servers: what is labelled must not start without its claims.
    failure="Fail",
    asks_about_ours=True,
)
_MUTATING_JOBS: Final = (
    replace(_JOB, operations=CREATE, condition=("queued", LABELLED), failure="Fail"),
    # Which of these gets a default queue is known to the webhook only.
    replace(
        _JOB,
        name="mjobwithoutqueue.kb.io",
        operations=CREATE,
        condition=("not-queued", f"!({LABELLED})"),
    ),
    _POD,
)
_VALIDATING: Final = (
    _Hook(kind="clusterqueue", resource="clusterqueues"),
    _Hook(kind="cohort", resource="cohorts"),
    _Hook(kind="resourceflavor", resource="resourceflavors"),
    _Hook(kind="workload", resource="workloads"),
    _Hook(kind="deviceflavor", resource="deviceflavors", group="queueing.dev", version="v1alpha1"),
    # Before the definition of Workloads goes, we let go of what has our finalizer.
    _Hook(
        kind="customresourcedefinition",
        resource="customresourcedefinitions",
        group="apiextensions.k8s.io",
        version="v1",
        operations=("DELETE",),
        condition=("workloads", f"request.name == 'workloads.{KUEUE}'"),
        name="vfarewell.queueing.dev",
        timeout_s=PATIENCE_S,
        side_effects="NoneOnDryRun",
    ),
)
_DEFINED: Final = (
    _Hook(kind="topology", resource="topologies"),
    _Hook(kind="localqueue", resource="localqueues"),
    _Hook(kind="admissioncheck", resource="admissionchecks"),
    *(
        _Hook(kind=kind, resource=resource, group="queueing.dev", version="v1alpha1")
        for kind, resource in (
            ("checkpointpolicy", "checkpointpolicies"),
            ("checkpoint", "checkpoints"),
            ("creditpolicy", "creditpolicies"),
            ("creditbudget", "creditbudgets"),
            ("creditgrant", "creditgrants"),
            ("creditaccount", "creditaccounts"),
            ("queueablekind", "queueablekinds"),
            ("usagerecord", "usagerecords"),
        )
    ),
)
"""Kinds of which the rules in their definitions say all."""
_VALIDATING_JOBS: Final = (replace(_JOB, condition=("queued", QUEUED)),)
_VALIDATING_PODS: Final = replace(
    _JOB, kind="pod", resource="pods", group="", condition=("marked", PODS.conditions[0])
)


def _of_pods(scope: Scope) -> Iterator[_Hook]:
    """Yield what queues new pods: those that a template marked, and those with a queue or none."""
    if scope.pods is Pods.NONE:
        return
    hook = replace(_POD, at=GATES_OF_PODS, label="", of_jobs=True, asks_about_ours=False)
    yield replace(hook, name="mpodofparent.kb.io", condition=("of-parent", HAS_PARENT))
    if scope.pods is not Pods.ALL:
        return
    alone = f"!({HAS_PARENT}) && ({without_owner(owners(scope.kinds))})"
    hook = replace(hook, name="mqueuedpod.kb.io", condition=("alone", alone))
    if scope.without_queue_name:
        yield hook
        return
    yield replace(hook, label=QUEUE)
    # Which of these gets a default queue is known to the webhook only.
    unqueued = ("alone-without-queue", f"!({LABELLED}) && {alone}")
    yield replace(hook, name="mpodwithoutqueue.kb.io", condition=unqueued, failure="Ignore")


def _of_kind(kind: SuspendedKind) -> tuple[_Hook, _Hook]:
    """Return what suspends objects of a kind, and what may give them a default queue.

    The field is in the path, so that whoever answers need not know the kind.
    """
    hook = _Hook(
        kind=kind.kind.lower(),
        resource=kind.plural,
        group=kind.group,
        version=kind.version,
        name=f"m{kind.plural}.{kind.group}",
        at=f"{BY_FIELD}{kind.field}",
        operations=CREATE,
        condition=("queued", LABELLED),
        failure="Fail",
        of_jobs=True,
    )
    unqueued = ("not-queued", f"!({LABELLED})")
    name = f"m{kind.plural}withoutqueue.{kind.group}"
    return hook, replace(hook, name=name, condition=unqueued, failure="Ignore")


def _of_marked(kind: MarkedKind) -> _Hook:
    """Return what marks the pod templates of a kind, and may give its objects a default queue."""
    return _Hook(
        kind=kind.kind.lower(),
        resource=kind.plural,
        group=kind.group,
        version=kind.version,
        at=f"{OF_MARKS}{kind.plural}",
        condition=("its-own", is_its_own(kind)),
        failure="Fail",
        of_jobs=True,
    )


def _of_kinds(kinds: Sequence[QueuedKind]) -> Iterator[_Hook]:
    """Yield what suspends objects of all kinds that are on, and what else changes jobs."""
    queued = labelled_itself(LABELLED, kinds)
    suspended = (one for one in kinds if isinstance(one, SuspendedKind) and one != JOB)
    others = [hook for kind in suspended for hook in _of_kind(kind)]
    others += map(_of_marked, marked(kinds))
    for hook in (*_MUTATING_JOBS, *others):
        is_queued = hook.condition == ("queued", LABELLED)
        yield replace(hook, condition=("queued", queued)) if is_queued else hook


def render(scope: Scope) -> list[Wire]:
    """Return the configurations: what fills in, then what refuses.

    Webhooks are asked about Jobs and their pods only where the server has no policies that suspend
    the ones and give claims to the others.
    """
    by_policy = scope.minor >= MINOR_WITH_MUTATING_POLICIES
    mutating, validating = [*_MUTATING], [*_VALIDATING]
    if not by_policy:
        mutating += [*_of_kinds(scope.kinds), *_of_pods(scope)]
        validating += _VALIDATING_JOBS
        validating += [_VALIDATING_PODS] if scope.pods is Pods.ALL else []
    return [
        _configuration("Mutating", "mutate", mutating, scope),
        _configuration("Validating", "validate", validating, scope),
    ]


def instead_of_definitions(scope: Scope) -> Wire:
    """Return one more configuration, for a server that does not evaluate rules of definitions."""
    made = _configuration("Validating", "validate", _DEFINED, scope)
    return {**made, "metadata": {"name": "queueing-instead-of-definitions"}}


def _configuration(prefix: str, verb: str, hooks: Sequence[_Hook], scope: Scope) -> Wire:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{prefix}WebhookConfiguration",
        "metadata": {"name": f"kueue-{prefix.lower()}-webhook-configuration"},
        "webhooks": [_webhook(hook, verb, scope) for hook in hooks],
    }


def _webhook(hook: _Hook, verb: str, scope: Scope) -> Wire:
    path = f"/{verb}-{hook.path}"
    wire: Wire = {
        "name": hook.name or f"{verb[0]}{hook.kind}.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": hook.side_effects,
        "failurePolicy": hook.failure,
        "timeoutSeconds": hook.timeout_s,
        "clientConfig": {
            "service": {"name": scope.service, "namespace": scope.namespace, "path": path}
        },
        "rules": [
            {
                "apiGroups": [hook.group],
                "apiVersions": [hook.version],
                "operations": list(hook.operations),
                "resources": hook.resources,
            }
        ],
    }
    if hook.of_jobs:
        wire["namespaceSelector"] = selector_wire(scope.namespaces)
    if hook.label:
        labelled = {"key": hook.label, "operator": "Exists"}
        wire["objectSelector"] = {"matchExpressions": [labelled]}
    asked = [hook.condition] if hook.condition else []
    conditions = [{"name": name, "expression": text} for name, text in asked]
    if not hook.asks_about_ours:
        conditions.append(scope.not_ours)
    return {**wire, "matchConditions": conditions} if conditions else wire
