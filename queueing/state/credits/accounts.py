"""Stored accounts: ledgers as they are to be stored, and what was stored last.

A *leaver* is a workload whose status no longer shows what it held, or soon will not: accounts
record it until they include its end. A workload is deleted, or reserves quota again, only when the
stored accounts include what it held before, or record it: otherwise a restart would count too
little.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from queueing.core.credits.facts import (
    BudgetAccountFact,
    CreditAccountFact,
    LeaverRecord,
    UsageRecordFact,
)
from queueing.core.credits.holding import Holding, Runs
from queueing.core.names import CohortName, Uid
from queueing.state.credits.book import Book

Stored = TypeVar("Stored", CreditAccountFact, BudgetAccountFact, UsageRecordFact)


class Accounts(Generic[Stored]):
    """The accounts that were stored last, by the name of their cohort, queue, tree or budget."""

    __slots__ = ("_stored",)

    def __init__(self) -> None:
        self._stored: dict[str, Stored] = {}

    def put(self, name: str, fact: Stored) -> None:
        """Take in an account that was stored."""
        self._stored[name] = fact

    def drop(self, name: str) -> None:
        """Forget a deleted account."""
        self._stored.pop(name, None)

    def stored(self, name: str) -> Stored | None:
        """Return the account that is stored under a name; None if there is none."""
        return self._stored.get(name)

    def reaches(self, until: int, name: str) -> bool:
        """Say whether an account is stored up to at least the time `until`."""
        known = self._stored.get(name)
        as_of = None if known is None else known.as_of
        return as_of is not None and as_of >= until

    def tells_of(self, holding: Holding, name: str) -> bool:
        """Say whether a stored account includes the end of a holding, or records it as a leaver."""
        if holding.until is not None and self.reaches(holding.until, name):
            return True
        known = self._stored.get(name)
        leavers = () if known is None else known.leavers
        wanted = holding.uid, holding.since, holding.until
        return any((one.uid, one.since, one.until) == wanted for one in leavers)


def records(
    books: Mapping[CohortName, Book], leaving: Sequence[Holding], grant_names: Mapping[Uid, str]
) -> Iterator[CreditAccountFact]:
    """Yield every ledger as it is to be stored, by name of the cohort.

    `leaving` are the holdings that statuses no longer show, or soon will not.
    """
    in_order = sorted(leaving, key=_uid_and_time)
    for cohort, book in sorted(books.items()):
        names = {one.name for one in book.node.queues()}
        yield CreditAccountFact(
            cohort=cohort,
            as_of=book.group.at,
            policy=book.policy.name,
            unit=book.policy.unit,
            children=book.group.records(book.exponents, book.held()),
            sinks=dict(book.group.sinks),
            leavers=tuple(
                leaver_record(one)
                for one in in_order
                if one.queue in names and (one.until is None or one.until > book.group.at)
            ),
            grants=dict(book.grants),
            grant_names={uid: grant_names.get(uid, "") for uid in book.grants},
        )


def recalled(leaver: LeaverRecord) -> Holding:
    """Return the holding that a leaver record describes."""
    return Holding(
        uid=leaver.uid,
        queue=leaver.queue,
        priority=leaver.priority,
        usage=leaver.usage,
        since=leaver.since,
        until=leaver.until,
        local_queue=leaver.local_queue,
        user=leaver.user,
        runs=None if leaver.runs_since is None else Runs(leaver.runs_since, leaver.runs_since),
    )


def leaver_record(holding: Holding) -> LeaverRecord:
    """Return the leaver record of a holding."""
    return LeaverRecord(
        uid=holding.uid,
        queue=holding.queue,
        priority=holding.priority,
        since=holding.since,
        until=holding.until,
        usage=holding.usage,
        local_queue=holding.local_queue,
        user=holding.user,
        runs_since=None if holding.runs is None else holding.runs.since,
    )


def _uid_and_time(holding: Holding) -> tuple[str, int]:
    return holding.uid, holding.since
