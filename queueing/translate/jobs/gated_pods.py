"""Pods that a start made and that wait at a gate: what is read of them, and what opens it."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from collections.abc import Collection, Iterable
from typing import ClassVar

from queueing.translate.wire.meta import Condition, Meta, Wire
from queueing.translate.wire.pods import SchedulingGate, Toleration

_ENDED = frozenset({"Succeeded", "Failed"})


class GatedPodSpec(Wire, frozen=True):
    """What we read of its spec."""

    node_selector: dict[str, str] = {}
    tolerations: list[Toleration] = []
    scheduling_gates: list[SchedulingGate] = []
    node_name: str = ""

    @property
    def gates(self) -> list[str]:
        """The names of its scheduling gates."""
        return [one.name for one in self.scheduling_gates]


class GatedPodStatus(Wire, frozen=True):
    """How far it is."""

    phase: str = ""
    conditions: list[Condition] = []


class GatedPod(Wire, frozen=True):
    """A pod that waits at a gate, or did."""

    gate: ClassVar[str]
    metadata: Meta
    spec: GatedPodSpec = GatedPodSpec()
    status: GatedPodStatus = GatedPodStatus()

    @property
    def is_gated(self) -> bool:
        """Whether it waits still."""
        return self.gate in self.spec.gates

    @property
    def has_ended(self) -> bool:
        """Whether it uses nothing any more."""
        return self.status.phase in _ENDED


def left_of(gates: Iterable[str], opened: Collection[str]) -> list[dict[str, str]] | None:
    """Return `schedulingGates` of a merge patch that opens some; None when none is left."""
    return [{"name": name} for name in gates if name not in opened] or None
