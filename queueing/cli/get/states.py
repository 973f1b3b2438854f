"""How a Workload stands, by its status: the words of `get`, `top` and `submit --follow`."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

Wire = Mapping[str, Any]


class State(StrEnum):
    """How far a Workload is."""

    PENDING = "Pending"
    RESERVED = "Reserved"
    ADMITTED = "Admitted"
    EVICTED = "Evicted"
    FINISHED = "Finished"


STYLES: Mapping[State, str] = MappingProxyType(
    {
        State.PENDING: "yellow",
        State.RESERVED: "cyan",
        State.ADMITTED: "green",
        State.EVICTED: "red",
        State.FINISHED: "dim",
    }
)


def condition(workload: Wire, kind: str) -> Wire:
    """Return a condition of an object; empty if it has none of this type."""
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind), {})


def is_true(workload: Wire, kind: str) -> bool:
    """Say whether a condition is True."""
    return bool(condition(workload, kind).get("status") == "True")


def state_of(workload: Wire) -> State:
    """Return how a Workload stands."""
    if is_true(workload, "Finished"):
        return State.FINISHED
    if is_true(workload, "QuotaReserved"):
        if is_true(workload, "Evicted"):
            return State.EVICTED
        return State.ADMITTED if is_true(workload, "Admitted") else State.RESERVED
    return State.PENDING


TELLING: Mapping[State, str] = MappingProxyType(
    {
        State.PENDING: "QuotaReserved",
        State.RESERVED: "QuotaReserved",
        State.ADMITTED: "Admitted",
        State.EVICTED: "Evicted",
        State.FINISHED: "Finished",
    }
)
"""The condition that says why a Workload stands so."""


def why(workload: Wire) -> tuple[str, str]:
    """Return reason and message of how a Workload stands."""
    state = state_of(workload)
    if state is State.PENDING and (workload.get("spec") or {}).get("active") is False:
        return "Deactivated", "it is not active"
    said = condition(workload, TELLING[state])
    return str(said.get("reason") or ""), str(said.get("message") or "")


def owners(workload: Wire) -> list[str]:
    """Return the jobs that a Workload is for, as `job/train`."""
    found = workload["metadata"].get("ownerReferences") or ()
    return [f"{one['kind'].lower()}/{one['name']}" for one in found]
