"""Demands on managed Jobs: those with a queue label, before or after the write.

A new Job that bears no more than names of its queue and its priority class is not asked about, if
such a queue can be: there is nothing else that a demand could find in it.
"""

from typing import Final

from queueing.webhooks.findings import Fault
from queueing.webhooks.jobs import (
    COMPLETIONS_EQUAL,
    MAX_EXECUTION,
    MIN_PARALLELISM,
    NO_OBJECT_NAME,
    PREBUILT,
    PRIORITY_CLASS,
    QUEUE,
)
from queueing.webhooks.policies.demand import GROUP, WHOLE_NUMBER, Demand, Policy
from queueing.webhooks.policies.gates import GATES, GATES_DEMANDS
from queueing.webhooks.policies.topology import JOB_DEMANDS, OF_JOBS

_LABELS: Final = "object.metadata.?labels.orValue({})"
_OLD_LABELS: Final = "(oldObject == null ? {} : oldObject.metadata.?labels.orValue({}))"
QUEUED: Final = f"'{QUEUE}' in {_LABELS} || '{QUEUE}' in {_OLD_LABELS}"
"""Says in CEL that a Job is, or was, in a queue."""
NAMES: Final = (QUEUE, PRIORITY_CLASS)
"""Labels of which no demand speaks, but that a queue must have such a name."""


def _can_be_named(labels: str) -> str:
    """Say in CEL that a queue can have the name in the labels, if any: a subdomain (RFC 1123)."""
    queue = f"{labels}[?'{QUEUE}'].orValue('')"
    return (
        f"{queue}.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$')"
        f" && !{queue}.matches('[.-][.]|[.]-')"
    )


_OURS: Final = f"k.startsWith('{GROUP}')"
_MARKED: Final = " || ".join(
    (
        "oldObject != null",
        f"!({_can_be_named(_LABELS)})",
        f"{_LABELS}.exists(k, {_OURS} && !(k in {list(NAMES)}))",
        f"object.metadata.?annotations.orValue({{}}).exists(k, {_OURS})",
        f"object.spec.template.?metadata.?annotations.orValue({{}}).exists(k, {_OURS})",
    )
)

_VARIABLES: Final = {
    "labels": _LABELS,
    "annotations": "object.metadata.?annotations.orValue({})",
    "oldLabels": _OLD_LABELS,
    "suspended": "object.spec.?suspend.orValue(false)",
    "kept": "oldObject == null || object.spec.?suspend.orValue(false)",
    "parallelism": "object.spec.?parallelism.orValue(1)",
    # Nobody counts anew: the parallelism may be what an admission made of it.
    "admitted": "oldObject != null"
    " && object.spec.?parallelism.orValue(1) == oldObject.spec.?parallelism.orValue(1)"
    f" && object.metadata.?annotations[?'{MIN_PARALLELISM}']"
    f" == oldObject.metadata.?annotations[?'{MIN_PARALLELISM}']",
    "least": f"object.metadata.?annotations[?'{MIN_PARALLELISM}'].orValue('')",
    "equal": f"object.metadata.?annotations[?'{COMPLETIONS_EQUAL}'].orValue('false')",
    **GATES,
    **OF_JOBS,
}


def _same(label: str) -> str:
    return f"variables.labels[?'{label}'] == variables.oldLabels[?'{label}']"


def _stays(label: str) -> Demand:
    """Demand that a label changes only on a suspended Job."""
    return Demand(
        path=f"metadata.labels[{label}]",
        expression=f"variables.kept || {_same(label)}",
        message="field is immutable",
    )


def _given(label: str, of: str) -> str:
    return f"variables.{of}[?'{label}'].orValue('') != ''"


_QUEUE: Final = Demand(
    path=f"metadata.labels[{QUEUE}]",
    expression=f"{_same(QUEUE)} || {_can_be_named('variables.labels')}",
    message=NO_OBJECT_NAME,
)
_TIME: Final = (
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
_PARTIAL: Final = (
    Demand(
        path=f"metadata.annotations[{MIN_PARALLELISM}]",
        expression=f"!('{MIN_PARALLELISM}' in variables.annotations)"
        f" || variables.least.matches('^{WHOLE_NUMBER}$')",
        message="must be a whole number",
    ),
    Demand(
        path=f"metadata.annotations[{MIN_PARALLELISM}]",
        expression=f"variables.admitted || !variables.least.matches('^{WHOLE_NUMBER}$')"
        " || (int(variables.least) > 0 && int(variables.least) < variables.parallelism)",
        message="should be between 0 and the parallelism less one",
        words="'should be between 0 and ' + string(variables.parallelism - 1)",
    ),
    Demand(
        path=f"metadata.annotations[{COMPLETIONS_EQUAL}]",
        expression="variables.equal in ['true', 'false']",
        message="must be a boolean value",
    ),
    Demand(
        path=f"metadata.annotations[{COMPLETIONS_EQUAL}]",
        expression="variables.equal != 'true'"
        " || object.spec.?completionMode.orValue('NonIndexed') == 'Indexed'",
        message="should not be enabled for NonIndexed jobs",
    ),
    Demand(
        path="spec.completions",
        expression="variables.equal != 'true'"
        " || object.spec.?completions.orValue(1) == variables.parallelism",
        message=f"should be equal to parallelism when {COMPLETIONS_EQUAL} is true",
    ),
)
_CHANGES: Final = (
    _stays(PREBUILT),
    _stays(MAX_EXECUTION),
    Demand(
        path=f"metadata.labels[{PRIORITY_CLASS}]",
        expression=f"variables.kept || !({_given(PRIORITY_CLASS, 'labels')})"
        f" || {_given(PRIORITY_CLASS, 'oldLabels')}",
        message="WorkloadPriorityClass cannot be added to a non-suspended workload",
        fault=Fault.FORBIDDEN,
    ),
    Demand(
        path=f"metadata.labels[{PRIORITY_CLASS}]",
        expression=f"{_given(PRIORITY_CLASS, 'labels')}"
        f" || !({_given(PRIORITY_CLASS, 'oldLabels')})",
        message="WorkloadPriorityClass cannot be removed from a workload",
        fault=Fault.FORBIDDEN,
    ),
    Demand(
        path="spec.parallelism",
        expression="variables.kept || oldObject.spec.?suspend.orValue(false)"
        f" || !('{MIN_PARALLELISM}' in variables.annotations)"
        " || object.spec.?parallelism == oldObject.spec.?parallelism",
        message="cannot change when partial admission is enabled and the job is not suspended",
        fault=Fault.FORBIDDEN,
    ),
    _stays(QUEUE),
)

JOBS: Final = Policy(
    name="queueing-validate-jobs",
    kind="Job",
    group="batch",
    version="v1",
    resources=("jobs",),
    conditions=(QUEUED, _MARKED),
    variables=_VARIABLES,
    demands=(_QUEUE, *_TIME, *_PARTIAL, *GATES_DEMANDS, *JOB_DEMANDS, *_CHANGES),
    of_jobs=True,
)
JOBS_BESIDE_A_DEFAULT_QUEUE: Final = Policy(
    name="queueing-validate-jobs-beside-a-default-queue",
    kind="Job",
    group="batch",
    version="v1",
    resources=("jobs",),
    operations=("UPDATE",),
    conditions=(f"'{QUEUE}' in {_OLD_LABELS} && !('{QUEUE}' in {_LABELS})",),
    demands=(
        Demand(
            path=f"metadata.labels[{QUEUE}]",
            expression="!object.spec.?suspend.orValue(false)",
            message="queue-name must not be empty in namespace with default queue",
        ),
    ),
    parameter="LocalQueue",
    of_jobs=True,
)
