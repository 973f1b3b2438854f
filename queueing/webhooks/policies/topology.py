"""Demands on what pods ask of the topology, by a Job's annotations or a Workload's request."""

from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.policies.demand import WHOLE_NUMBER, Demand
from queueing.webhooks.workloads import ELASTIC

PREFIX: Final = "kueue.x-k8s.io/podset-"
REQUIRED: Final = f"{PREFIX}required-topology"
PREFERRED: Final = f"{PREFIX}preferred-topology"
UNCONSTRAINED: Final = f"{PREFIX}unconstrained-topology"
SLICE_REQUIRED: Final = f"{PREFIX}slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}slice-size"
CLOSENESS: Final = (REQUIRED, PREFERRED, UNCONSTRAINED)
NOT_ELASTIC: Final = {REQUIRED: "required", PREFERRED: "preferred"}

_PATH: Final = "spec.template.metadata.annotations"
_SIZE: Final = f"{_PATH}[{SLICE_SIZE}]"
_WHOLE: Final = f"variables.sliceSize.matches('^{WHOLE_NUMBER}$')"
OF_JOBS: Final = {
    "template": "object.spec.template.?metadata.?annotations.orValue({})",
    "sliceSize": f"variables.template[?'{SLICE_SIZE}'].orValue('')",
    "elastic": f"object.metadata.?annotations[?'{ELASTIC}'].orValue('') == 'true'",
}
JOB_DEMANDS: Final = (
    Demand(
        path=_PATH,
        expression=f"size({list(CLOSENESS)}.filter(a, a in variables.template)) <= 1",
        message="must not contain more than one topology annotation",
    ),
    Demand(
        path=f"{_PATH}[{UNCONSTRAINED}]",
        expression=f"variables.template[?'{UNCONSTRAINED}'].orValue('true') in ['true', 'false']",
        message="must be a boolean value",
    ),
    *(
        Demand(
            path=f"{_PATH}[{name}]",
            expression=f"!variables.elastic || !('{name}' in variables.template)",
            message=f"{word} topology is not supported with elastic jobs",
            fault=CauseType.FORBIDDEN,
        )
        for name, word in NOT_ELASTIC.items()
    ),
    Demand(
        path=_SIZE,
        expression=f"'{SLICE_SIZE}' in variables.template"
        f" || !('{SLICE_REQUIRED}' in variables.template)",
        message=f"must be set when {SLICE_REQUIRED} is specified",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_SIZE,
        expression=f"!('{SLICE_SIZE}' in variables.template)"
        f" || '{SLICE_REQUIRED}' in variables.template",
        message=f"may not be set when {SLICE_REQUIRED} is not specified",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_SIZE,
        expression=f"!('{SLICE_SIZE}' in variables.template) || {_WHOLE}",
        message="must be a numeric value",
    ),
    Demand(
        path=_SIZE,
        expression=f"!{_WHOLE} || int(variables.sliceSize) > 0",
        message="must be greater than 0",
    ),
    Demand(
        path=_SIZE,
        expression=f"!{_WHOLE} || int(variables.sliceSize) <= variables.parallelism",
        message="must not be greater than pod set count",
        words="'must not be greater than pod set count ' + string(variables.parallelism)",
    ),
)

_REQUEST: Final = "spec.podSets[].topologyRequest.podSetSliceSize"
_GIVEN: Final = "p.?topologyRequest.?podSetSliceSize.hasValue()"
_ASKED: Final = "p.?topologyRequest.?podSetSliceRequiredTopology.orValue('') != ''"
WORKLOAD_DEMANDS: Final = (
    Demand(
        path=_REQUEST,
        expression=f"variables.podSets.all(p, {_GIVEN} || !({_ASKED}))",
        message="must be set when podSetSliceRequiredTopology is specified",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_REQUEST,
        expression=f"variables.podSets.all(p, !{_GIVEN} || {_ASKED})",
        message="may not be set when podSetSliceRequiredTopology is not specified",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_REQUEST,
        expression="variables.podSets.all(p, p.?topologyRequest.?podSetSliceSize.orValue(1) > 0)",
        message="must be greater than 0",
    ),
)
