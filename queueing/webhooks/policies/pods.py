"""Demands on pods that are queued, by themselves or in a group."""

from typing import Final

from queueing.translate.labels import (
    GATE,
    MANAGED,
    POD_GROUP,
    POD_GROUP_TOTAL,
    QUEUE_NAME,
    RETRIABLE,
)
from queueing.webhooks.findings import CauseType
from queueing.webhooks.jobs import PREBUILT
from queueing.webhooks.policies import topology
from queueing.webhooks.policies.demand import Demand, Policy
from queueing.webhooks.policies.gates import GATES_DEMANDS
from queueing.webhooks.policies.queued import (
    CHANGES,
    TIME,
    variables_of,
)
from queueing.webhooks.policies.queued import (
    QUEUE_NAME as QUEUE,
)
from queueing.webhooks.workloads import ELASTIC

_WAITS: Final = (
    f"object.spec.?schedulingGates.orValue([]).exists(g, g.name == '{GATE}')"
    " || object.?status.?phase.orValue('') in ['Succeeded', 'Failed']"
)
_ON_PODS: Final = (MANAGED, QUEUE_NAME, POD_GROUP)
_NOTES: Final = (POD_GROUP, POD_GROUP_TOTAL)
_MARKED: Final = " || ".join(
    f"{thing}.metadata.?{place}.orValue({{}}).exists(k, k in {list(names)})"
    for thing in ("object", "(oldObject == null ? object : oldObject)")
    for place, names in (("labels", _ON_PODS), ("annotations", _NOTES))
)


def _group_of(labels: str, annotations: str) -> str:
    noted = f"{annotations}[?'{POD_GROUP}'].orValue('')"
    return f"{noted} != '' ? {noted} : {labels}[?'{POD_GROUP}'].orValue('')"


_VARIABLES: Final = {
    **variables_of(_WAITS),
    "oldAnnotations": "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})",
    **topology.variables_of(
        f"{list(topology.NAMES)}.exists(k,"
        " variables.annotations[?k] != variables.oldAnnotations[?k])"
        " ? variables.annotations : {}"  # who changes none of them need not mend them
    ),
    "group": _group_of("variables.labels", "variables.annotations"),
    "oldGroup": _group_of("variables.oldLabels", "variables.oldAnnotations"),
    "total": f"variables.annotations[?'{POD_GROUP_TOTAL}'].orValue('')",
    "prebuilt": f"variables.annotations[?'{PREBUILT}'].orValue("
    f"variables.labels[?'{PREBUILT}'].orValue(''))",
}
_NAME: Final = f"metadata.annotations[{POD_GROUP}]"
_TOTAL: Final = f"metadata.annotations[{POD_GROUP_TOTAL}]"
_BOTH: Final = (
    f"both the '{POD_GROUP_TOTAL}' annotation and the '{POD_GROUP}' label or annotation"
    " should be set"
)
_OF_GROUPS: Final = (
    Demand(
        path=f"metadata.labels[{MANAGED}]",
        expression=f"variables.labels[?'{MANAGED}'].orValue("
        f"variables.oldLabels[?'{MANAGED}'].orValue('') == 'true' ? '' : 'true') == 'true'",
        message="managed label value can only be 'true'",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_NAME,
        expression="variables.group != '' || variables.total == ''",
        message=_BOTH,
        fault=CauseType.REQUIRED,
    ),
    Demand(
        path=_NAME,
        expression="variables.group == ''"
        " || (variables.group.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')"
        " && !variables.group.matches('[.-][.]|[.]-'))",
        message="a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
        " characters, '-' or '.', and must start and end with an alphanumeric character",
    ),
    Demand(
        path=_NAME,
        expression="variables.oldGroup == '' || variables.group == variables.oldGroup",
        message="field is immutable",
    ),
    Demand(
        path=_TOTAL,
        expression="variables.group == '' || variables.total != ''",
        message=_BOTH,
        fault=CauseType.REQUIRED,
    ),
    Demand(
        path=_TOTAL,
        expression="variables.total == '' || variables.total.matches('^[+-]?[0-9]{1,9}$')",
        message="must be a whole number",
    ),
    Demand(
        path=_TOTAL,
        expression="!variables.total.matches('^[+-]?[0-9]{1,9}$')"
        " || variables.total.matches('^[+]?0*[1-9][0-9]*$')",
        message="group total count should be greater than zero",
    ),
    Demand(
        path=f"metadata.annotations[{RETRIABLE}]",
        expression="variables.group == ''"
        f" || variables.oldAnnotations[?'{RETRIABLE}'].orValue('') != 'false'"
        f" || variables.annotations[?'{RETRIABLE}'].orValue('') == 'false'",
        message="unretriable pod group can't be converted to retriable",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=f"metadata.labels[{PREBUILT}]",
        expression="variables.group == '' || variables.prebuilt == ''"
        " || variables.prebuilt == variables.group",
        message="prebuilt workload and pod group should be equal",
    ),
    Demand(
        path=f"metadata.annotations[{ELASTIC}]",
        expression="oldObject != null"
        f" || variables.annotations[?'{ELASTIC}'].orValue('') != 'true'",
        message='elastic job is not supported for "/v1, Kind=Pod"',
        fault=CauseType.FORBIDDEN,
    ),
)

PODS: Final = Policy(
    name="queueing-validate-pods",
    kind="Pod",
    group="",
    version="v1",
    resources=("pods",),
    conditions=(_MARKED,),
    variables=_VARIABLES,
    demands=(
        QUEUE,
        *TIME,
        *_OF_GROUPS,
        *topology.demands_on("metadata.annotations"),
        *GATES_DEMANDS,
        *CHANGES,
    ),
    of_jobs=True,
)
"""Those of other owners are not asked about: their templates may bear any labels of ours."""
