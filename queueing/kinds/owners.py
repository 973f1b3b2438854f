"""Who owns whom is queued once: of an object and its controllers, the topmost that is queued."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from queueing.translate.jobs.composition import GroupKind
from queueing.translate.jobs.management import DEPTH_MAX, controller_of, group_kind_of
from queueing.translate.wire.meta import Meta, OwnerReference

TOO_DEEP = (
    f"Terminated search for Kueue-managed Job because ancestor depth exceeded limit of {DEPTH_MAX}"
)
PASSED: Collection[GroupKind] = frozenset({("apps", "ReplicaSet")})
"""Kinds that are never queued, but may stand between an object and one that is."""


class OwnersError(ValueError):
    """The controllers above an object cannot be told, so that it must not run yet."""


class OwnerGoneError(OwnersError):
    """A controller that is referred to does not exist."""


class CyclicOwnersError(OwnersError):
    """Objects control each other."""


class TooDeepError(OwnersError):
    """There are more than `DEPTH_MAX` controllers above an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A controller of an object."""

    reference: OwnerReference
    metadata: Meta
    queued: bool
    """Whether its kind is on, and it has a queue or needs none."""


def ancestor_of(
    meta: Meta, known: Collection[GroupKind], find: Callable[[OwnerReference], Owner | None]
) -> Owner | None:
    """Return the topmost controller above an object that is queued in its place; None without one.

    The walk goes on through owners of known kinds, queued or not: an object of another kind, such
    as a CronJob, is never queued, so that what it controls is. It ends at a reference to an earlier
    life of a name. `find` returns the owner of that name in the same namespace; None when there is
    none. Raises OwnersError.
    """
    topmost: Owner | None = None
    seen = {meta.uid}
    for depth in range(DEPTH_MAX + 1):
        reference = controller_of(meta)
        if reference is None or group_kind_of(reference) not in {*known, *PASSED}:
            return topmost
        if depth == DEPTH_MAX:
            raise TooDeepError(TOO_DEEP)
        owner = find(reference)
        if owner is None:
            raise OwnerGoneError("workload owner not found")
        if owner.metadata.uid != reference.uid:
            return topmost
        if owner.metadata.uid in seen:
            raise CyclicOwnersError("cyclic ownership")
        seen.add(owner.metadata.uid)
        topmost = owner if owner.queued else topmost
        meta = owner.metadata
    return topmost


def takes_default_queue(meta: Meta, enabled: Collection[GroupKind]) -> bool:
    """Say whether an object without a queue may get the default one of its namespace.

    One whose controller is of a kind that is on does not, whether or not that has a queue.
    """
    reference = controller_of(meta)
    return reference is None or group_kind_of(reference) not in enabled
