"""How well a flavor suits, and which of two suits better."""

from enum import IntEnum

from queueing.core.facts import FlavorPolicy, FlavorPreference, Fungibility


class Grade(IntEnum):
    """How a request could be satisfied by a flavor, from worst to best."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    """Preemption is allowed but finds nobody."""
    PREEMPT = 2
    """Victims in the own queue."""
    RECLAIM = 3
    """Victims in other queues only."""
    FIT = 4


Rank = tuple[int, ...]
"""Compares as flavors do: the larger is preferred."""


def rank(grade: Grade, borrow: int, preference: FlavorPreference) -> Rank:
    """Rank a grade and a borrowing level (0 is best) by the queue's preference."""
    if grade <= Grade.NO_CANDIDATES:
        return (int(grade),)
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
