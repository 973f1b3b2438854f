"""Reads from a node's taints that it will go away, and names it in the eviction's message."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

import re
from datetime import datetime

from queueing.checkpoints.rules.interruptions import Interruption, NodeTaint
from queueing.translate.times import seconds, timestamp
from queueing.translate.wire.meta import Meta, Wire

_MESSAGE = re.compile(r"^Node (?P<node>\S+) goes away \(taint [^)]*\)(?: by (?P<until>\S+))?$")


class Taint(Wire, frozen=True):
    """A taint of a node."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: datetime | None = None


class NodeSpec(Wire, frozen=True):
    """Spec of a node."""

    taints: list[Taint] = []


class Node(Wire, frozen=True):
    """A node."""

    metadata: Meta
    spec: NodeSpec = NodeSpec()


def taints(node: Node) -> tuple[NodeTaint, ...]:
    """Return the taints of a node."""
    return tuple(
        NodeTaint(one.key, one.value, one.effect, seconds(one.time_added))
        for one in node.spec.taints
    )


def message(node: str, found: Interruption) -> str:
    """Say in an eviction which node goes away, and until when its pods run."""
    by = "" if found.until is None else f" by {timestamp(found.until)}"
    return f"Node {node} goes away (taint {found.taint}){by}"


def named_in(text: str) -> tuple[str, float | None]:
    """Read the node of such a message, empty when it is another, and until when its pods run."""
    found = _MESSAGE.match(text)
    if found is None:
        return "", None
    try:
        until = datetime.fromisoformat(found["until"]).timestamp() if found["until"] else None
    except ValueError:
        until = None
    return found["node"], until
