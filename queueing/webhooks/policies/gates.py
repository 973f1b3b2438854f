"""Demands on the annotation that gates an admission, which Jobs and Workloads share."""

from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.policies.demand import Demand
from queueing.webhooks.workloads import GATE_NAME, GATED_BY


def _gates_of(thing: str) -> str:
    return (
        f"{thing}.metadata.?annotations[?'{GATED_BY}'].orValue('')"
        ".split(',').map(g, g.trim()).filter(g, g != '')"
    )


GATES: Final = {
    "gates": _gates_of("object"),
    "oldGates": f"oldObject == null ? [] : {_gates_of('oldObject')}",
}
_PATH: Final = f"metadata.annotations[{GATED_BY}]"
GATES_DEMANDS: Final = (
    Demand(
        path=_PATH,
        expression=f"variables.gates.all(g, g.matches('^{GATE_NAME}$'))",
        message="must be a list of names of the form domain/name",
    ),
    Demand(
        path=_PATH,
        expression="oldObject == null || size(variables.gates) == 0"
        " || size(variables.oldGates) > 0",
        message="cannot add admission gate after creation",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=_PATH,
        expression="oldObject == null || variables.gates.all(g, g in variables.oldGates)",
        message="can only remove gates, not add new ones",
        fault=CauseType.FORBIDDEN,
    ),
)
