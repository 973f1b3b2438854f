"""Who owns whom is queued once: of an object and its controllers, the topmost that is queued."""

from collections.abc import Callable, Collection
from typing import ClassVar, Protocol, TypeVar

from queueing.translate.jobs.composition import GroupKind
from queueing.translate.wire.meta import Meta, OwnerReference

DEPTH_MAX = 10
"""How many controllers above an object are looked at."""


class OwnersError(ValueError):
    """The controllers above an object cannot be told, so that it must not run yet."""

    reason: ClassVar[str]
    """Reason of the Event that tells of it."""


class OwnerGoneError(OwnersError):
    """A controller that is referred to does not exist."""

    reason = "OwnerNotFound"

    def __init__(self, gone: OwnerReference) -> None:
        super().__init__(f"workload owner not found: {gone.kind} {gone.name}")


class CyclicOwnersError(OwnersError):
    """Objects control each other."""

    reason = "CyclicOwnership"

    def __init__(self) -> None:
        super().__init__("cyclic ownership")


class TooDeepError(OwnersError):
    """There are more than `DEPTH_MAX` controllers above an object."""

    reason = "JobNestingTooDeep"

    def __init__(self) -> None:
        super().__init__(
            "Terminated search for Kueue-managed Job because ancestor depth exceeded limit of"
            f" {DEPTH_MAX}"
        )


class Owned(Protocol):
    """An object that may have a controlling owner."""

    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=Owned)


def ancestor_of(
    meta: Meta,
    known: Collection[GroupKind],
    find: Callable[[OwnerReference], T | None],
    is_queued: Callable[[T], bool],
) -> T | None:
    """Return the topmost controller above an object that is queued in its place; None without one.

    The walk goes on through owners of known kinds, queued or not: an object of another kind, such
    as a CronJob, is never queued, so that what it controls is. `find` returns what a reference
    means, in the namespace of the object; None where the walk ends, as at an earlier life of a
    name. It may raise OwnerGoneError. Raises OwnersError.
    """
    topmost: T | None = None
    seen = {meta.uid}
    for depth in range(DEPTH_MAX + 1):
        reference = meta.controller
        if reference is None or reference.group_kind not in known:
            break
        if depth == DEPTH_MAX:
            raise TooDeepError
        owner = find(reference)
        if owner is None:
            break
        meta = owner.metadata
        if meta.uid in seen:
            raise CyclicOwnersError
        seen.add(meta.uid)
        topmost = owner if is_queued(owner) else topmost
    return topmost
