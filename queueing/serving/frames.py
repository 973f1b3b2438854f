"""What the controller tells its serving process: frames on a Unix socket.

How things are is told when it changes; metrics, and who waits in a queue, when somebody asks.

A frame is four bytes of length (big endian) and a document in MessagePack, in both directions: the
text of metrics, which is long, is written as it is. Every frame is complete in itself for the keys
that it carries, so a lost connection is mended by sending the latest state again. Metrics and
answers are for who asked: they are not kept.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import msgspec

from queueing.explain.model import Answer

T = TypeVar("T")

LENGTH_BYTES = 4
FRAME_BYTES_MAX = 256 * 1024 * 1024
ALL = "-"
"""Stands for the name of a cohort or flavor where all of them are meant; no object has it."""
FLAVORS = "resourceflavors"


class PendingPart(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A part of the list of pending workloads of one queue: just one of the two is named."""

    cluster_queue: str = ""
    local_queue: str = ""
    """Namespace and name."""
    offset: int = 0
    limit: int = 0


class Subject(msgspec.Struct, frozen=True, rename="camel"):
    """What is to be explained."""

    kind: str
    """The plural of its resource: `workloads`, `localqueues`, `clusterqueues`, `cohorts` or
    `resourceflavors`."""
    name: str
    """Namespace and name, if it has a namespace; of cohorts, `ALL` for all trees."""
    part: str = ""
    """Of a queue: `waiting` or `holding` for the list of those; empty for the explanation. Of a
    flavor: a domain of its topology, as `part_of` spells it."""
    offset: int = 0
    limit: int = 0
    topology: str = ""
    """Of a flavor: which of its topologies; empty for its own."""


def part_of(domain: Sequence[str]) -> str:
    """Spell a domain and those that it is in, the widest first: names with slashes between them.

    A name may be empty, as values of labels may be; after a last one that is, there is a slash, so
    that it is told from none.
    """
    return "/".join(domain) + ("/" if domain and not domain[-1] else "")


def domain_of(part: str) -> tuple[str, ...]:
    """Return the domain that `part_of` has spelled; empty for the first level."""
    return tuple(part.removesuffix("/").split("/")) if part else ()


class Around(msgspec.Struct, frozen=True, rename="camel"):
    """What a snapshot is wanted of: the surroundings of a waiting workload, or everything."""

    name: str
    """Namespace and name; `ALL` for everything."""


class Question(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the serving process wants: a list, an explanation, a snapshot; without any, metrics."""

    pending: PendingPart | None = None
    explain: Subject | None = None
    snapshot: Around | None = None
    number: int = 0
    """Under which it is answered."""
    until: float | None = None
    """The time of event loops (both processes are on one machine) after which nobody waits for the
    answer; None: somebody always does."""


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
    answers: dict[int, list[PendingRow] | None] | None = None
    """Lists, by the number of the question; None means that there is no such queue."""
    explanations: dict[int, Answer | None] | None = None
    """The same of explanations."""
    pieces: list[tuple[int, str | None]] | None = None
    """Pieces of snapshots, in their order, with the number of the question; None ends one. One
    without a piece: the workload does not wait, or too much is around it."""
    refused: dict[int, str] | None = None
    """Why there is no answer, by the number of the question."""


ANSWERS = ("answers", "explanations", "pieces", "refused")
"""What is for who asked."""
SUBJECTS = tuple(name for name in Frame.__struct_fields__ if name not in ANSWERS)
"""What a newer word replaces as a whole."""
ENCODER = msgspec.msgpack.Encoder()
NEWS = msgspec.msgpack.Decoder(Frame)
QUESTIONS = msgspec.msgpack.Decoder(Question)


def encode(said: Frame | Question) -> bytes:
    """Return what one side says as it goes over the socket."""
    body = ENCODER.encode(said)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


async def frames(
    reader: asyncio.StreamReader, decoder: "msgspec.msgpack.Decoder[T]"
) -> AsyncIterator[T]:
    """Yield what the other side says until it closes; a torn last frame is dropped."""
    while True:
        try:
            head = await reader.readexactly(LENGTH_BYTES)
            size = int.from_bytes(head, "big")
            if size > FRAME_BYTES_MAX:
                raise ValueError(f"a frame of {size} bytes is not one of ours")
            yield decoder.decode(await reader.readexactly(size))
        except asyncio.IncompleteReadError:
            return


def learn(known: Frame, new: Frame) -> None:
    """Put what a frame says into what is known; costs as much as the new one holds."""
    for subject in SUBJECTS:
        told = getattr(new, subject)
        if told is not None:
            setattr(known, subject, told)
