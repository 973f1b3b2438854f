"""Decision writes: sent, sent again, and judged by what the object says.

A write ends in one of three outcomes. *Done*: it took effect. *Refused*: it did not and never will.
*Unknown*: it may have, or may still; whoever decided keeps it charged until `resolve` or a watch
event tells. The proof needs a precondition (a resourceVersion, a uid, or a name that must be free),
so that a write sent twice takes effect once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Self

import msgspec

from queueing.kube.backoff import Backoff, Draw, draw
from queueing.kube.client import PLAIN, READ_TIMEOUT_S, WRITE_TIMEOUT_S, Call, Client
from queueing.kube.errors import (
    FencedError,
    KubeError,
    NotFoundError,
    NotSentError,
    RefusedError,
    UnclearError,
)
from queueing.kube.objects import Identified
from queueing.kube.resources import Target


class Verb(Enum):
    """The ways to write."""

    CREATE = auto()
    MERGE = auto()
    JSON = auto()
    APPLY = auto()
    REPLACE = auto()
    DELETE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One decision write.

    `target` is the object's own address, also for a create, with the subresource that is written.
    `body` carries the precondition; `precondition` repeats its resourceVersion ("" for a create, or
    where there is none). `took_effect` looks at the object as a quorum read shows it and says
    whether this write is in it.
    """

    verb: Verb
    target: Target
    body: bytes
    took_effect: Callable[[bytes], bool]
    precondition: str = ""
    call: Call = PLAIN


@dataclass(frozen=True, slots=True)
class Done:
    """The write is in the object; `body` is the object as the server returned it."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """The write is not in the object and never will be."""

    error: KubeError


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can tell yet; `last_sent_at` is the loop's time at which the last attempt ended."""

    error: KubeError
    last_sent_at: float


Outcome = Done | Refused | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """How long to insist; all in seconds.

    `attempt_timeout_s` is the hard timeout of one attempt, for which the leadership must last.
    After `deadline_s` no attempt is begun. A write that is not in the object `settle_s` after the
    last attempt cannot land any more: the server's own deadline for it lies well before.
    """

    attempt_timeout_s: float = WRITE_TIMEOUT_S
    deadline_s: float = 30.0
    settle_s: float = 2 * WRITE_TIMEOUT_S
    backoff: Backoff = field(default=Backoff(0.2, 5.0))
    draw: Draw = draw

    @classmethod
    def lasting(cls, attempt_timeout_s: float) -> Self:
        """Insist as usual, with another hard timeout of one attempt."""
        return cls(attempt_timeout_s=attempt_timeout_s, settle_s=2 * attempt_timeout_s)


RULES = WriteRules()
MaySend = Callable[[float], bool]
"""Whether a write with this hard timeout (seconds) may be sent now: the leadership's fence."""


def always(_timeout_s: float) -> bool:
    """Let every write be sent: the fence of who need not be elected."""
    return True


async def perform(
    client: Client, write: Write, *, rules: WriteRules = RULES, may_send: MaySend = always
) -> Outcome:
    """Send the write, and again while its outcome is unclear and the deadline has not passed."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + rules.deadline_s
    send, call = _METHODS[write.verb], replace(write.call, timeout_s=rules.attempt_timeout_s)
    target = write.target
    if write.verb is Verb.CREATE:
        target = Target(target.resource, target.namespace)
    unclear: Unknown | None = None
    attempt = 0
    while True:
        if not may_send(rules.attempt_timeout_s):
            label = write.target.label
            return unclear or Refused(FencedError(f"{label}: not leading for long enough"))
        try:
            return Done(await send(client, target, write.body, call))
        except RefusedError as error:
            # After an unclear attempt a refusal may be the echo of our own success.
            return await resolve(client, write, unclear, rules=rules) if unclear else Refused(error)
        except UnclearError as error:
            unclear = Unknown(error, loop.time())
            failure: KubeError = error
        except NotSentError as error:
            failure = error
        pause = max(rules.backoff.delay(attempt, rules.draw), failure.retry_after)
        attempt += 1
        if loop.time() + pause >= deadline:
            if unclear is None:
                return Refused(failure)
            return await resolve(client, write, unclear, rules=rules)
        await asyncio.sleep(pause)


async def resolve(
    client: Client, write: Write, unknown: Unknown, *, rules: WriteRules = RULES
) -> Outcome:
    """Read the object from the quorum and say what became of the write, as far as one can tell."""
    began = asyncio.get_running_loop().time()
    where = replace(write.target, subresource="")
    body: bytes | None
    try:
        body = await client.get(where, Call(timeout_s=READ_TIMEOUT_S))
    except NotFoundError:
        body = None
    except KubeError:
        return unknown
    match _judge(write, body):
        case _Finding.IN_EFFECT:
            return Done(body or b"")
        case _Finding.RULED_OUT:
            return Refused(unknown.error)
        case _Finding.STILL_POSSIBLE:
            settled = began - unknown.last_sent_at >= rules.settle_s
            return Refused(unknown.error) if settled else unknown


class _Finding(Enum):
    IN_EFFECT = auto()
    STILL_POSSIBLE = auto()
    RULED_OUT = auto()


def _judge(write: Write, body: bytes | None) -> _Finding:
    """Compare the object, None when absent, with the write and its precondition."""
    if body is None:
        absent = {Verb.CREATE: _Finding.STILL_POSSIBLE, Verb.DELETE: _Finding.IN_EFFECT}
        return absent.get(write.verb, _Finding.RULED_OUT)
    if write.took_effect(body):
        return _Finding.IN_EFFECT
    if write.verb is Verb.CREATE:
        return _Finding.RULED_OUT
    version = msgspec.json.decode(body, type=Identified).metadata.resource_version
    moved_on = bool(write.precondition) and version != write.precondition
    return _Finding.RULED_OUT if moved_on else _Finding.STILL_POSSIBLE


_METHODS: Mapping[Verb, Callable[[Client, Target, bytes, Call], Awaitable[bytes]]] = {
    Verb.CREATE: Client.create,
    Verb.MERGE: Client.patch_merge,
    Verb.JSON: Client.patch_json,
    Verb.APPLY: Client.apply,
    Verb.REPLACE: Client.replace,
    Verb.DELETE: Client.delete,
}
