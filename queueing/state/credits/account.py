"""What all accounts of the credit system have in common: ledgers, purses of budgets, and meters.

An account counts what falls under its holder: the holdings of a cohort, of a ClusterQueue or of a
LocalQueue. It follows the times stored in objects, in whole seconds, up to a time of its own.
Invariant: the same holdings at the same times give the same sums, however often it was advanced, so
that a new leader, which goes on from what was stored, gets the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from queueing.core.credits.facts import CreditKind, Member, Record
from queueing.core.credits.holding import Holding

Terms = TypeVar("Terms")
Name = tuple[CreditKind, str]
"""The kind of the object that an account is stored in, and the name of the account."""
Numbered = tuple[int, Holding]
"""A holding with the number under which it counts."""


class Account(ABC, Generic[Terms]):
    """One account. `Terms` are what it counts by: quotas, prices, the grant of a budget."""

    name: Name
    holder: Member
    read_at = -1
    """The time of the stored record that it goes on from: that includes all until then."""

    @abstractmethod
    def advance(self, to: int) -> None:
        """Let time pass up to `to`, after all changes at the present time took effect.

        An earlier time changes nothing.
        """

    @abstractmethod
    def count(self, token: int, holding: Holding, when: int, sign: int) -> None:
        """Count a holding from `when` on, under a number of its own, or with sign -1 end it.

        It counts from the account's time if that is later.
        """

    def ran(self, token: int, holding: Holding, since: int, when: int) -> None:
        """Note, at `when`, since when all pods of a holding run."""

    def lose(self, holding: Holding, seconds: int, *, was_saved: bool) -> None:
        """Note that a holding ends by an eviction, which loses the work of its last seconds.

        `was_saved` says whether the work before these was saved.
        """

    @abstractmethod
    def reshape(self, terms: Terms, holdings: Iterable[Numbered]) -> None:
        """Take over the present terms from the account's time on, and count these holdings."""

    def close(self) -> None:
        """Cease to count; called when there should be no such account any more."""

    def outlives(self, _stored: Record | None) -> bool:
        """Say whether it is kept, and stored, though it is closed."""
        return False

    def told(self, stored: Record) -> None:
        """Note what was stored of it."""

    @abstractmethod
    def records(self, leavers: Iterable[Holding]) -> Iterator[Record]:
        """Yield what is to be stored of it. `leavers` are those among the holdings it counts."""


@dataclass(frozen=True, slots=True)
class Wanted(Generic[Terms]):
    """An account that there should be now."""

    made: Callable[[Terms, int, Any], Account[Terms]]
    """Makes it: from its terms, the time from which it counts, and what was stored of it."""
    name: Name
    holder: Member
    terms: Terms
    created: int = 0
    """Before this time it counts nothing."""


def remaining(leavers: Iterable[Holding], at: int) -> tuple[Holding, ...]:
    """Return the leavers whose end a record as of a time does not include, as they are stored."""
    return tuple(one.as_leaver() for one in leavers if one.until is None or one.until > at)
