"""Demands on what pods ask of the topology, by a Job's annotations or a Workload's request."""

from typing import Final

from queueing.translate.labels import GANG
from queueing.translate.labels import TOPOLOGY_GROUP as GROUP
from queueing.translate.labels import TOPOLOGY_PREFERRED as PREFERRED
from queueing.translate.labels import TOPOLOGY_REQUIRED as REQUIRED
from queueing.translate.labels import TOPOLOGY_SIZE as SLICE_SIZE
from queueing.translate.labels import TOPOLOGY_SLICE as SLICE_REQUIRED
from queueing.translate.labels import TOPOLOGY_SLICES as SLICES
from queueing.translate.labels import TOPOLOGY_UNCONSTRAINED as UNCONSTRAINED
from queueing.webhooks.findings import CauseType
from queueing.webhooks.policies.demand import WHOLE_NUMBER, Demand
from queueing.webhooks.workloads import ELASTIC

CLOSENESS: Final = (REQUIRED, PREFERRED, UNCONSTRAINED)
NOT_ELASTIC: Final = {REQUIRED: "required", PREFERRED: "preferred"}
NAMES: Final = (*CLOSENESS, SLICE_REQUIRED, SLICE_SIZE, GROUP, SLICES)
"""All annotations that these demands are on."""
TRUTH: Final = ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"]
"""What Go reads as a boolean."""
_LISTED: Final = ", ".join(f'"{one}"' for one in CLOSENESS)
LEVELS: Final = (REQUIRED, PREFERRED, SLICE_REQUIRED)
_LABEL: Final = "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"

_WHOLE: Final = f"variables.sliceSize.matches('^{WHOLE_NUMBER}$')"


_APART: Final = (
    (GROUP, SLICE_SIZE),
    (GROUP, SLICE_REQUIRED),
    (SLICES, SLICE_REQUIRED),
    (SLICES, SLICE_SIZE),
    (SLICES, GROUP),
)
"""Annotations that the same pods must not have together; the first of each pair is refused."""


def variables_of(annotations: str) -> dict[str, str]:
    """Return the phrases of these demands; `annotations` are in CEL those of the pods."""
    return {
        "template": annotations,
        "sliceSize": f"variables.template[?'{SLICE_SIZE}'].orValue('')",
    }


def demands_on(path: str) -> tuple[Demand, ...]:
    """Return the demands on annotations of pods that stand at a path."""
    size = f"{path}[{SLICE_SIZE}]"
    return (
        Demand(
            path=path,
            expression=f"size({list(CLOSENESS)}.filter(a, a in variables.template)) <= 1",
            message=f"must not contain more than one topology annotation: [{_LISTED}]",
        ),
        *(
            Demand(
                path=f"{path}[{name}]",
                expression=f"variables.template[?'{name}'].orValue('a').matches('{_LABEL}')",
                message="must be the name of a label",
            )
            for name in LEVELS
        ),
        Demand(
            path=f"{path}[{UNCONSTRAINED}]",
            expression=f"variables.template[?'{UNCONSTRAINED}'].orValue('true') in {TRUTH}",
            message="must be a boolean value",
        ),
        Demand(
            path=size,
            expression=f"'{SLICE_SIZE}' in variables.template"
            f" || !('{SLICE_REQUIRED}' in variables.template)",
            message=f"must be set when '{SLICE_REQUIRED}' is specified",
            fault=CauseType.REQUIRED,
        ),
        Demand(
            path=size,
            expression=f"!('{SLICE_SIZE}' in variables.template)"
            f" || '{SLICE_REQUIRED}' in variables.template",
            message=f"may not be set when '{SLICE_REQUIRED}' is not specified",
            fault=CauseType.FORBIDDEN,
        ),
        Demand(
            path=size,
            expression=f"!('{SLICE_SIZE}' in variables.template) || {_WHOLE}",
            message="must be a numeric value",
        ),
        Demand(
            path=size,
            expression=f"!{_WHOLE} || int(variables.sliceSize) >= 1",
            message="must be greater than or equal to 1",
        ),
        Demand(
            path=f"{path}[{GROUP}]",
            expression=f"!variables.template[?'{GROUP}'].orValue('').matches('^[0-9]+$')",
            message="must not be a number",
        ),
        Demand(
            path=f"{path}[{GROUP}]",
            expression=f"!('{GROUP}' in variables.template)"
            f" || {[REQUIRED, PREFERRED]}.exists(a, a in variables.template)",
            message=f"may not be set when neither '{PREFERRED}' nor '{REQUIRED}' is specified",
            fault=CauseType.FORBIDDEN,
        ),
        *(
            Demand(
                path=f"{path}[{name}]",
                expression=f"!('{name}' in variables.template)"
                f" || !('{other}' in variables.template)",
                message=f"may not be set when '{other}' is specified",
                fault=CauseType.FORBIDDEN,
            )
            for name, other in _APART
        ),
    )


_PATH: Final = "spec.template.metadata.annotations"
OF_JOBS: Final = {
    **variables_of("object.spec.template.?metadata.?annotations.orValue({})"),
    "elastic": f"object.metadata.?annotations[?'{ELASTIC}'].orValue('') == 'true'",
    "gang": f"object.metadata.?labels[?'{GANG}'].hasValue()",
}
JOB_DEMANDS: Final = (
    *demands_on(_PATH),
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
        path=f"{_PATH}[{SLICE_SIZE}]",
        expression=f"!{_WHOLE} || int(variables.sliceSize) <= variables.parallelism",
        message="must not be greater than pod set count",
        words="'must not be greater than pod set count ' + string(variables.parallelism)",
    ),
    Demand(
        path=f"{_PATH}[{GROUP}]",
        expression=f"!('{GROUP}' in variables.template) || variables.gang",
        message="can only define groups of exactly 2 pod sets, got: 1 pod set(s)",
    ),
)

_REQUEST: Final = "spec.podSets[].topologyRequest.podSetSliceSize"
_GIVEN: Final = "p.?topologyRequest.?podSetSliceSize.hasValue()"
_ASKED: Final = "p.?topologyRequest.?podSetSliceRequiredTopology.orValue('') != ''"
SLICED: Final = f"({_GIVEN} || {_ASKED})"
"""Whether a pod set says anything that the demands on Workloads speak of."""
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
