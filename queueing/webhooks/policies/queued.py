"""Demands on queued objects of any kind: queue, class, time, changes.

A new object that bears no more than names of its queue and its priority class is not asked about,
if such a queue can be: there is nothing else that a demand could find in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.jobs import MAX_EXECUTION, NO_OBJECT_NAME, PREBUILT, PRIORITY_CLASS, QUEUE
from queueing.webhooks.patches import optional
from queueing.webhooks.policies.demand import GROUP, WHOLE_NUMBER, Demand, Policy
from queueing.webhooks.policies.gates import GATES, GATES_DEMANDS
from queueing.webhooks.suspension import QueuedKind, SuspendedKind, is_suspended
from queueing.webhooks.workloads import ELASTIC
from queueing_api.queueing.v1alpha1.queueable_kind import FixedField

_LABELS: Final = "object.metadata.?labels.orValue({})"
_OLD_LABELS: Final = "(oldObject == null ? {} : oldObject.metadata.?labels.orValue({}))"
QUEUED: Final = f"'{QUEUE}' in {_LABELS} || '{QUEUE}' in {_OLD_LABELS}"
"""Says in CEL that an object is, or was, in a queue."""
NAMES: Final = (QUEUE, PRIORITY_CLASS)
"""Labels of which no demand speaks, but that a queue must have such a name."""


def can_be_named(labels: str) -> str:
    """Say in CEL that a queue can have the name in the labels, if any: a subdomain (RFC 1123)."""
    queue = f"{labels}[?'{QUEUE}'].orValue('')"
    return (
        f"{queue}.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$')"
        f" && !{queue}.matches('[.-][.]|[.]-')"
    )


_OURS: Final = f"k.startsWith('{GROUP}')"
_MARKS: Final = (
    "oldObject != null",
    f"!({can_be_named(_LABELS)})",
    f"{_LABELS}.exists(k, {_OURS} && !(k in {list(NAMES)}))",
    f"object.metadata.?annotations.orValue({{}}).exists(k, {_OURS})",
)


def variables_of(suspended: str) -> dict[str, str]:
    """Return the phrases of these demands; `suspended` says of an object that it waits."""
    return {
        "labels": _LABELS,
        "annotations": "object.metadata.?annotations.orValue({})",
        "oldLabels": _OLD_LABELS,
        "kept": f"oldObject == null || {suspended}",
        **GATES,
    }


def _same(label: str) -> str:
    return f"variables.labels[?'{label}'] == variables.oldLabels[?'{label}']"


def _stays(label: str) -> Demand:
    """Demand that a label changes only on a suspended object."""
    return Demand(
        path=f"metadata.labels[{label}]",
        expression=f"variables.kept || {_same(label)}",
        message="field is immutable",
    )


def _given(label: str, of: str) -> str:
    return f"variables.{of}[?'{label}'].orValue('') != ''"


QUEUE_NAME: Final = Demand(
    path=f"metadata.labels[{QUEUE}]",
    expression=f"{_same(QUEUE)} || {can_be_named('variables.labels')}",
    message=NO_OBJECT_NAME,
)
TIME: Final = (
    Demand(
        path=f"metadata.labels[{MAX_EXECUTION}]",
        expression=f"variables.labels[?'{MAX_EXECUTION}'].orValue('1').matches('^{WHOLE_NUMBER}$')",
        message="must be a whole number of seconds",
    ),
    Demand(
        path=f"metadata.labels[{MAX_EXECUTION}]",
        expression=f"!variables.labels[?'{MAX_EXECUTION}'].orValue('1').matches('^(-[0-9]+|[+]?0+)$')",
        message="should be greater than 0",
    ),
)
CHANGES: Final = (
    _stays(PREBUILT),
    _stays(MAX_EXECUTION),
    Demand(
        path=f"metadata.labels[{PRIORITY_CLASS}]",
        expression=f"variables.kept || !({_given(PRIORITY_CLASS, 'labels')})"
        f" || {_given(PRIORITY_CLASS, 'oldLabels')}",
        message="WorkloadPriorityClass cannot be added to a non-suspended workload",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=f"metadata.labels[{PRIORITY_CLASS}]",
        expression=f"{_given(PRIORITY_CLASS, 'labels')}"
        f" || !({_given(PRIORITY_CLASS, 'oldLabels')})",
        message="WorkloadPriorityClass cannot be removed from a workload",
        fault=CauseType.FORBIDDEN,
    ),
    _stays(QUEUE),
)


def _supported(kind: QueuedKind) -> Iterator[Demand]:
    """Yield the demands not to ask for what a kind cannot do, nor to become elastic later."""
    told = f'"{kind.api_version}, Kind={kind.kind}"'
    if not kind.prebuilt:
        yield Demand(
            path=f"metadata.labels[{PREBUILT}]",
            expression=f"oldObject != null || !('{PREBUILT}' in variables.labels)",
            message=f"Is not supported for {told}",
            fault=CauseType.FORBIDDEN,
        )
    mark = f"variables.annotations[?'{ELASTIC}'].orValue('')"
    if kind.elastic:
        yield Demand(
            path=f"metadata.annotations[{ELASTIC}]",
            expression="oldObject == null || "
            f"{mark} == oldObject.metadata.?annotations[?'{ELASTIC}'].orValue('')",
            message="field is immutable",
        )
    else:
        yield Demand(
            path=f"metadata.annotations[{ELASTIC}]",
            expression=f"oldObject != null || {mark} != 'true'",
            message=f"elastic job is not supported for {told}",
            fault=CauseType.FORBIDDEN,
        )


def fixed(rule: FixedField, idle: str) -> Demand:
    """Demand that a field is not changed; `idle` says in CEL that the old object did not run.

    A list or map that is empty is as good as absent.
    """
    new, old = optional("object", rule.path), optional("oldObject", rule.path)
    if rule.entries:
        parts = ", ".join(_what_is_in(optional("e", one)) for one in rule.entries)
        new, old = (f"{one}.orValue([]).map(e, [{parts}])" for one in (new, old))
    else:
        new, old = _what_is_in(new), _what_is_in(old)
    free = ["oldObject == null", *([idle] if rule.when == "Running" else ())]
    return Demand(
        path=rule.path,
        expression=" || ".join((*free, f"{new} == {old}")),
        message="field is immutable",
    )


def _what_is_in(found: str) -> str:
    """Return in CEL a list of an optional value, empty if that is absent or has nothing in it."""
    return f"[{found}.orValue([])].filter(v, v != dyn([]) && v != dyn({{}}))"


def name_of(kind: QueuedKind) -> str:
    """Return what the names of a kind's policies end with."""
    return kind.plural if kind.group == "batch" else f"{kind.plural}.{kind.group}"


def policy_of(
    kind: QueuedKind,
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
    demands: Sequence[Demand] = (),
    changes: Sequence[Demand] = (),
    marks: Sequence[str] = (),
) -> Policy:
    """Return the policy of a kind, with what is demanded of it alone.

    `marks` say in CEL which new objects the demands of its own can find anything in.
    """
    return Policy(
        name=f"queueing-validate-{name_of(kind)}",
        kind=kind.kind,
        group=kind.group,
        version=kind.version,
        resources=(kind.plural,),
        conditions=(QUEUED, " || ".join((*_MARKS, *marks))),
        variables={**variables_of(kind.free), **variables},
        demands=(
            QUEUE_NAME,
            *TIME,
            *_supported(kind),
            *demands,
            *GATES_DEMANDS,
            *CHANGES,
            *changes,
            *(fixed(one, kind.was_free) for one in kind.fixed),
        ),
        of_jobs=True,
    )


def beside_a_default_queue(kind: SuspendedKind) -> Policy:
    """Return the policy of a kind in namespaces with a default queue."""
    return Policy(
        name=f"queueing-validate-{name_of(kind)}-beside-a-default-queue",
        kind=kind.kind,
        group=kind.group,
        version=kind.version,
        resources=(kind.plural,),
        operations=("UPDATE",),
        conditions=(f"'{QUEUE}' in {_OLD_LABELS} && !('{QUEUE}' in {_LABELS})",),
        demands=(
            Demand(
                path=f"metadata.labels[{QUEUE}]",
                expression=f"!{is_suspended(kind.field)}",
                message="queue-name must not be empty in namespace with default queue",
            ),
        ),
        parameter="LocalQueue",
        of_jobs=True,
    )
