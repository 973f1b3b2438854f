"""What the controller tells its serving process: frames on a Unix socket.

Metrics are told when they are asked for, all else when it changes.

A frame is four bytes of length (big endian) and a JSON document. Every frame is complete in itself
for the keys that it carries, so a lost connection is mended by sending the latest state again.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

LENGTH_BYTES = 4
FRAME_BYTES_MAX = 256 * 1024 * 1024
ASK_FOR_METRICS = b"m"
"""The one thing that the serving process says."""


class PendingRow(msgspec.Struct, frozen=True, rename="camel"):
    """One pending workload in the order of its ClusterQueue."""

    namespace: str
    name: str
    priority: int
    local_queue: str
    position_in_cluster_queue: int
    position_in_local_queue: int
    created: str = ""
    owners: list[dict[str, object]] = []


class Frame(msgspec.Struct, omit_defaults=True, rename="camel"):
    """News for the serving process; None says nothing of that subject."""

    leading: bool | None = None
    ready: bool | None = None
    """The work is being done: by this replica, with the policies in force, or by another."""
    alive: float | None = None
    """Monotonic seconds of the controller's loop when it last turned."""
    metrics: str | None = None
    """The exposition text of the controller's own metrics."""
    queues: dict[str, list[PendingRow] | None] | None = None
    """Pending workloads per ClusterQueue; None means that the queue is gone."""


SUBJECTS = tuple(name for name in Frame.__struct_fields__ if name != "queues")
"""What a newer word replaces as a whole."""
ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(Frame)


def encode(frame: Frame) -> bytes:
    """Return the frame as it goes over the socket."""
    body = ENCODER.encode(frame)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[Frame]:
    """Yield frames until the other side closes; a torn last frame is dropped."""
    while True:
        try:
            head = await reader.readexactly(LENGTH_BYTES)
            size = int.from_bytes(head, "big")
            if size > FRAME_BYTES_MAX:
                raise ValueError(f"a frame of {size} bytes is not one of ours")
            yield DECODER.decode(await reader.readexactly(size))
        except asyncio.IncompleteReadError:
            return


def learn(known: Frame, new: Frame) -> None:
    """Put what a frame says into what is known; costs as much as the new one holds."""
    for subject in SUBJECTS:
        told = getattr(new, subject)
        if told is not None:
            setattr(known, subject, told)
    if new.queues is not None:
        known.queues = {} if known.queues is None else known.queues
        known.queues |= new.queues


def forget_gone(known: Frame, new: Frame) -> None:
    """Forget the queues of which a frame says that they are gone, once everybody was told."""
    for name, rows in (new.queues or {}).items():
        if rows is None and known.queues is not None:
            known.queues.pop(name, None)
