"""CreditGrants: each is booked once, and what decay left of it is taken back when it expires."""

from queueing.core.credits.facts import CreditGrantFact
from queueing.core.names import Uid
from queueing.state.credits.agenda import Agenda, Give

_NOBODY = 0
"""For events that concern no holding; holdings are numbered from 1."""


class Grants:
    """All CreditGrants, by name."""

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
