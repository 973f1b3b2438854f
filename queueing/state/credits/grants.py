"""CreditGrants: each is booked once, and what decay left of it is taken back when it expires."""

from collections.abc import Iterable

from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import PART, CreditGrantFact
from queueing.core.names import Uid
from queueing.state.credits.agenda import Agenda, Give
from queueing.state.credits.book import Book

_NOBODY = 0
"""For events that concern no holding; holdings are numbered from 1."""


class Grants:
    """All CreditGrants, by name."""

    __slots__ = ("_agenda", "_by_name", "_planned")

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._by_name: dict[str, CreditGrantFact] = {}
        self._planned: dict[Uid, None] = {}

    def put(self, fact: CreditGrantFact) -> None:
        """Take in a grant."""
        self._by_name[fact.name] = fact

    def drop(self, name: str) -> None:
        """Forget a deleted grant; what it gave stays booked."""
        self._by_name.pop(name, None)

    def names(self) -> dict[Uid, str]:
        """Return the names of the grants that exist, by uid."""
        return {one.uid: one.name for one in self._by_name.values()}

    def plan(self) -> None:
        """Plan the booking of new grants, and their expiry."""
        for _, grant in sorted(self._by_name.items()):
            if grant.uid not in self._planned:
                self._planned[grant.uid] = None
                self._agenda.plan(grant.at, _NOBODY, Give(grant, expired=False))
                if grant.expires_at is not None:
                    self._agenda.plan(grant.expires_at, _NOBODY, Give(grant, expired=True))


def carry_out(given: Give, books: Iterable[Book], at: int) -> None:
    """Book a grant, or take it back, in every ledger of which its receiver is a child."""
    for book in books:
        if given.grant.receiver in book.children:
            book.advance(at)
            _book(book, given.grant, expired=given.expired)


def _book(book: Book, grant: CreditGrantFact, *, expired: bool) -> None:
    """Book a grant, or take back what decay left of it; each only once."""
    booked = book.grants.get(grant.uid)
    if not expired and booked is None:
        if book.group.give(grant.receiver, grant.amount * PART):
            book.grants[grant.uid] = False
    elif expired and booked is False and grant.expires_at is not None:
        kept = Decay(book.policy.half_life_s).kept_after(grant.expires_at - grant.at)
        book.group.take_back(grant.receiver, shrink(grant.amount * PART, kept))
        book.grants[grant.uid] = True
