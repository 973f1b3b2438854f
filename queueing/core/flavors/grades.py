"""How well a request fits in a flavor, and which of two flavors is preferred."""

from enum import IntEnum

from queueing.core.flavor_quotas import FlavorPolicy, FlavorPreference, Fungibility


class Grade(IntEnum):
    """How a request fits in a flavor, from worst to best."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    """Preemption is allowed, but finds no victims."""
    PREEMPT = 2
    """By preemption, with at least one victim of the same queue."""
    RECLAIM = 3
    """By preemption in other queues only."""
    FIT = 4
    """Without preemption."""


NO_FIT, NO_CANDIDATES, FIT = Grade.NO_FIT, Grade.NO_CANDIDATES, Grade.FIT
"""For hot paths: up to Python 3.11, reading a member of an enumeration from its class costs as much
as several function calls."""
Rank = tuple[int, ...]
"""Flavors are compared by it: the larger is preferred."""


def rank(grade: Grade, borrow: int, preference: FlavorPreference) -> Rank:
    """Return the rank of a grade and borrowing level by the queue's `flavorFungibility.preference`.

    The borrowing level is the height in the tree up to which is borrowed: 0 is not at all. Without
    candidates, the flavor counts for which less is borrowed, because quota is kept in it.
    """
    if grade is Grade.NO_FIT:
        return (0,)
    if grade is Grade.NO_CANDIDATES:
        return (1, -borrow)
    if preference is FlavorPreference.PREEMPTION_OVER_BORROWING:
        return (2, -borrow, grade)
    return (2, grade, -borrow)


def tries_next(grade: Grade, borrow: int, fungibility: Fungibility) -> bool:
    """Say whether the search goes on to the next flavor after one of this grade."""
    if grade <= Grade.NO_CANDIDATES:
        return True
    if grade < Grade.FIT and fungibility.when_can_preempt is FlavorPolicy.TRY_NEXT_FLAVOR:
        return True
    return borrow > 0 and fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR
