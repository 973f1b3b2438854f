"""A command in a container, through the `exec` subresource of its pod.

One WebSocket carries the command's outputs and, at its end, a Status with its exit code; the first
byte of each frame says which it is. Version 4 of the subprotocol is what every server speaks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp
import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import LostError, Status
from queueing.kube.resources import PODS

PROTOCOL = "v4.channel.k8s.io"
OUTPUT_MAX = 64 * 1024
_STDOUT, _STDERR, _STATUS = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecTarget:
    """Where a command is run; without a container in the pod's first one."""

    namespace: str
    pod: str
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """A command that has ended; of its outputs the last 64 KiB each."""

    code: int
    output: str
    errors: str
    message: str = ""
    """What the server says of the end, where it was not by the command's own code."""


class _Outcome(Status, frozen=True):
    status: str = ""


async def execute(
    client: Client, place: ExecTarget, words: Sequence[str], begun: Callable[[], None]
) -> CommandResult:
    """Run a command to its end; `begun` is called when the container has it.

    Raises a KubeError when it is refused, and LostError when the connection breaks: the command may
    then run on.
    """
    query = [("command", word) for word in words]
    query += [("stdout", "true"), ("stderr", "true")]
    query += [("container", place.container)] if place.container else []
    target = PODS.at(place.pod, place.namespace, "exec")
    kept: dict[int, bytes] = {_STDOUT: b"", _STDERR: b"", _STATUS: b""}
    async with client.websocket(target, query, PROTOCOL) as socket:
        begun()
        async for frame in socket:
            if frame.type is not aiohttp.WSMsgType.BINARY or not frame.data:
                continue
            channel, data = frame.data[0], frame.data[1:]
            if channel in kept:
                kept[channel] = (kept[channel] + data)[-OUTPUT_MAX:]
    outcome = _read(kept[_STATUS])
    if outcome is None:
        raise LostError(f"the connection to {place.namespace}/{place.pod} broke")
    return CommandResult(
        code=_code(outcome),
        output=kept[_STDOUT].decode("utf-8", "replace"),
        errors=kept[_STDERR].decode("utf-8", "replace"),
        message="" if outcome.status == "Success" else outcome.message,
    )


def _read(text: bytes) -> _Outcome | None:
    try:
        return msgspec.json.decode(text, type=_Outcome)
    except msgspec.MsgspecError:
        return None


def _code(outcome: _Outcome) -> int:
    """Return the exit code; 1 for an end that has none."""
    if outcome.status == "Success":
        return 0
    causes = outcome.details.causes if outcome.details is not None else ()
    told = next((one.message for one in causes if one.reason == "ExitCode"), "")
    return int(told) if told.isdecimal() else 1
