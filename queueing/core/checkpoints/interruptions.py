"""Nodes that go away: how their taints say so, and how much time is left.

A spot instance that is taken back, a machine that is maintained, a node that does not answer: its
taint comes before the end of its pods, so the time between can save their work.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

OURS = "queueing.dev/interruption"
"""The taint of whoever has no other; its value may say until when, in seconds since the epoch."""
GRACE_S: Mapping[str, float | None] = MappingProxyType(
    {
        OURS: None,
        "aws-node-termination-handler/spot-itn": 120.0,
        "cloud.google.com/impending-node-termination": 30.0,
        "karpenter.sh/disrupted": None,
        "node.kubernetes.io/out-of-service": None,
        "node.kubernetes.io/unreachable": 300.0,
    }
)
"""Taints that announce the end of a node, and how long after them its pods end; None: unknown."""
_AT_ONCE = frozenset({"node.kubernetes.io/unreachable"})
"""Of these only the effect NoExecute ends pods."""
_SECONDS = re.compile(r"^[0-9]{1,12}$")


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of a node; `added` is known for the effect NoExecute alone."""

    key: str
    value: str = ""
    effect: str = ""
    added: float | None = None


@dataclass(frozen=True, slots=True)
class Interruption:
    """That a node goes away: by which taint, and until when its pods run; None: as they like."""

    taint: str
    until: float | None = None


def interruption(taints: Iterable[NodeTaint], seen_at: float) -> Interruption | None:
    """Return the end of a node that comes first; None for a node that stays.

    `seen_at` is when the taints were first seen, for those that do not say since when they are.
    """
    found = [
        Interruption(one.key, _until(one, seen_at))
        for one in taints
        if one.key in GRACE_S and (one.key not in _AT_ONCE or one.effect == "NoExecute")
    ]
    return min(found, key=_soonest, default=None)


def time_to_save(until: float, grace_s: float, now: float) -> float:
    """Return how long pods may save that end at a time: their grace must fit too.

    Where it does not, half of what is left is for saving: a signal alone saves nothing.
    """
    left = max(until - now, 0.0)
    return max(left - grace_s, left / 2.0)


def _until(taint: NodeTaint, seen_at: float) -> float | None:
    if taint.key == OURS and _SECONDS.match(taint.value):
        return float(taint.value)
    grace_s = GRACE_S[taint.key]
    since = seen_at if taint.added is None else taint.added
    return None if grace_s is None else since + grace_s


def _soonest(one: Interruption) -> tuple[bool, float, str]:
    return one.until is None, one.until or 0.0, one.taint
