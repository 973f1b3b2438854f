"""Workloads that hold quota and do nothing, by the word of their pods: since when they do.

Pods say so themselves, or somebody who can tell says it of them. A word costs nobody but the
workload that it is about, so it is believed; it counts from the start of the run at the earliest.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SECONDS = re.compile(r"^[0-9]{1,12}$")


@dataclass(frozen=True, slots=True)
class JobPods:
    """How many pods of one Job run, and since when those of them are idle that say so."""

    running: int
    idle: tuple[float, ...] = ()


def said_idle(text: str) -> float | None:
    """Read since when a pod does nothing, in seconds since the epoch; None for what is no time."""
    return float(text) if _SECONDS.match(text) else None


def idle_since(parts: Sequence[JobPods], started: float) -> float | None:
    """Return since when no pod of a workload does anything; None while one of them does."""
    if not any(part.running for part in parts):
        return None
    if any(len(part.idle) < part.running for part in parts):
        return None
    return max([started, *(since for part in parts for since in part.idle)])


def idle_since_by_leaders(parts: Sequence[JobPods], started: float) -> float | None:
    """Return the same where leaders speak for all: the word of one of them is enough."""
    said = [since for part in parts for since in part.idle]
    return max([started, *said]) if said else None
