"""Nodes that go away: which taints announce it, and how much time is left.

A spot instance is taken back, a machine is maintained, a node does not respond: the taint comes
before the end of its pods, so work can be saved in between.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

OURS = "queueing.dev/interruption"
"""Our own taint, for anybody to set; its value may be the end, in seconds since the epoch."""
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
"""Taints that count only with the effect NoExecute, because no other effect ends pods."""
_SECONDS = re.compile(r"^[0-9]{1,12}$")


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A taint of a node; `added` (`timeAdded`) is known only for the effect NoExecute."""

    key: str
    value: str = ""
    effect: str = ""
    added: float | None = None


@dataclass(frozen=True, slots=True)
class Interruption:
    """A node goes away: which taint says so, and when its pods end; None if that is unknown."""

    taint: str
    until: float | None = None


def interruption(taints: Iterable[NodeTaint], seen_at: float) -> Interruption | None:
    """Return the interruption of a node that comes first; None if no taint announces one.

    `seen_at` is when the taints were first observed; it is used for those without a `timeAdded`.
    """
    found = [
        Interruption(one.key, _until(one, seen_at))
        for one in taints
        if one.key in GRACE_S and (one.key not in _AT_ONCE or one.effect == "NoExecute")
    ]
    return min(found, key=_soonest, default=None)


def time_to_save(until: float, grace_s: float, now: float) -> float:
    """Return how many seconds pods may save that end at `until`, less their termination grace.

    If the grace leaves less than half of the time, half of it is for saving.
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
