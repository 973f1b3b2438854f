"""Since when a workload that holds quota is idle, as an annotation of its pods says.

Pods set it themselves, or a tool that can tell does (docs/decisions/0023). It is believed, because
it harms only the workload itself; it counts from the start of the run at the earliest.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SECONDS = re.compile(r"^[0-9]{1,12}$")


@dataclass(frozen=True, slots=True)
class JobIdleness:
    """How many pods of one Job run, and since when those that say so are idle (epoch seconds)."""

    running: int
    idle: tuple[float, ...] = ()


def said_idle(text: str) -> float | None:
    """Parse since when a pod is idle, in seconds since the epoch; None if that is no time."""
    return float(text) if _SECONDS.match(text) else None


def idle_since(parts: Sequence[JobIdleness], started: float) -> float | None:
    """Return since when all pods of a workload are idle; None while one is not."""
    if not any(part.running for part in parts):
        return None
    if any(len(part.idle) < part.running for part in parts):
        return None
    return max([started, *(since for part in parts for since in part.idle)])


def idle_since_by_leaders(parts: Sequence[JobIdleness], started: float) -> float | None:
    """Return the same if leaders answer for all pods: one idle leader is enough."""
    said = [since for part in parts for since in part.idle]
    return max([started, *said]) if said else None
