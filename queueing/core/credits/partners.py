"""Which child lent how much to which other: for reports only, balances do not depend on it.

A period ends with each step of decay and with each record. What its lenders lent is divided over
its borrowers in proportion to what each borrowed.
"""

from queueing.core.credits.facts import PART, ChildRecord, Member
from queueing.core.credits.market import UNMOVED, Marks

POOL = "$pool"
KEPT = 16
"""How many partners are recorded for each child: those with the largest sums."""
LARGEST = 64
"""How many lenders, and how many borrowers, are considered in one period: the largest ones."""


class Partners:
    """Sums of what was lent between pairs of children, in micro-credits."""

    __slots__ = ("_borrowed", "_lent", "_now")

    def __init__(self) -> None:
        self._lent: dict[Member, dict[str, int]] = {}
        self._borrowed: dict[Member, dict[str, int]] = {}
        self._now: dict[Member, Marks] = {}
        """What each child did in this period, in parts of a micro-credit."""

    def note(self, member: Member, done: Marks) -> None:
        """Add to what a child did in this period."""
        self._now[member] = self._now.get(member, UNMOVED).plus(*done)

    def share_out(self) -> None:
        """End the period: divide what was lent in it over lenders and borrowers."""
        now, self._now = self._now, {}
        lenders = _largest({member: one.lent for member, one in now.items()})
        takers = _largest({member: one.taken for member, one in now.items()})
        whole = sum(one.taken for one in now.values()) * PART
        for lender, lent in lenders:
            for taker, taken in takers:
                amount = lent * taken // whole
                _add(self._lent, lender, f"{taker.kind}/{taker.name}", amount)
                _add(self._borrowed, taker, f"{lender.kind}/{lender.name}", amount)
        for member, one in now.items():
            _add(self._borrowed, member, POOL, one.pooled // PART)

    def lent_by(self, member: Member) -> tuple[tuple[str, int], ...]:
        """Return the children to which a child lent most, with micro-credits."""
        return _most(self._lent.get(member, {}))

    def borrowed_by(self, member: Member) -> tuple[tuple[str, int], ...]:
        """Return the children from which a child borrowed most, with micro-credits."""
        return _most(self._borrowed.get(member, {}))

    def resume(self, record: ChildRecord) -> None:
        """Restore the sums of a child from a stored record."""
        self._lent[record.member] = dict(record.lent_to)
        self._borrowed[record.member] = dict(record.borrowed_from)


def _largest(sums: dict[Member, int]) -> list[tuple[Member, int]]:
    found = [one for one in sums.items() if one[1]]
    return sorted(found, key=lambda one: (-one[1], one[0]))[:LARGEST]


def _most(sums: dict[str, int]) -> tuple[tuple[str, int], ...]:
    found = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
    return tuple(found[:KEPT])


def _add(table: dict[Member, dict[str, int]], member: Member, name: str, amount: int) -> None:
    if amount:
        row = table.setdefault(member, {})
        row[name] = row.get(name, 0) + amount
