"""Writes ledgers down: one CreditAccount each, seldom, and in one write."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import floor

import msgspec

from queueing.clock import Clock
from queueing.controller.credits.budgets import Budgets
from queueing.controller.credits.intake import Intake, lag_of
from queueing.controller.credits.usage_records import UsageRecords
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.credits.facts import CreditAccountFact
from queueing.core.names import Key
from queueing.kube.errors import ConflictError, KubeError
from queueing.kube.resources import CREDIT_ACCOUNTS
from queueing.state.engine import Engine
from queueing.translate import credits as translate
from queueing.translate import credits_wire as wire
from queueing.translate.outbound.conditions import patch

logger = logging.getLogger(__name__)

EVERY_S = 30.0
"""Least time between two writes of one account, with ledgers that are 5 s behind."""
LOOK_S = 0.02
"""Between two looks at whether what a workload held before is written down."""
PATIENCE_S = 5.0
"""How long a second reservation waits for the account before it is put off."""
NEAR_S = 5
"""How far accounts may be behind the ledgers when what a workload holds is about to change."""
UNCHANGED_S = 300
"""How far the account of a ledger may be behind in which nothing changes."""
API_VERSION = "queueing.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDependencies:
    """What accounts are written with."""

    engine: Engine
    writes: LeaderWrites
    clock: Clock
    intake: Intake
    attend: Callable[[Key], None]
    """Has a Workload looked at whose end is stored now."""


class Accounts:
    """Knows which ledgers differ from what is stored."""

    def __init__(self, dependencies: AccountDependencies) -> None:
        self._engine, self._writes = dependencies.engine, dependencies.writes
        self._clock, self._intake = dependencies.clock, dependencies.intake
        self._attend = dependencies.attend
        self._written: dict[str, CreditAccountFact] = {}
        self._last: dict[str, float] = {}
        self._waiting: dict[Key, None] = {}
        self._leaving: dict[Key, None] = {}
        self._changing: dict[Key, None] = {}
        self._asked: dict[str, None] = {}
        """Accounts that are to be written though nothing in them changed."""
        self._budgets = Budgets(self._engine, self._writes, self._clock, self._intake)
        self._usages = UsageRecords(self._engine, self._writes, self._clock, self._intake.usages)
        self.urgent = asyncio.Event()
        """Somebody waits for the next write."""

    def covered(self, key: Key) -> bool:
        """Say whether a Workload may be forgotten; if not, it is looked at again when it may."""
        if self._engine.credits_cover(key):
            self._waiting.pop(key, None)
            return True
        self._waiting[key] = None
        return False

    def recorded(self, key: Key) -> bool:
        """Say whether an evicted Workload may give its quota back; if not, that is written now."""
        if self._engine.credits_name(key):
            self._leaving.pop(key, None)
            return True
        self._leaving[key] = None
        self.urgent.set()
        return False

    def preceded(self, key: Key) -> bool:
        """Say whether what a Workload holds may change; if not, accounts are written now.

        No status tells when it changed. A start after a crash counts it from the account on.
        """
        since = floor(self._clock.now()) - max(self._lags(), default=0) - NEAR_S
        behind = self._engine.credits_behind(key, since)
        if not behind:
            return True
        self._changing[key] = None
        self._asked.update(dict.fromkeys(behind))
        self.urgent.set()
        return False

    async def until_settled(self, key: Key) -> bool:
        """Wait until what a Workload held before is written down; False when it takes long."""
        engine, clock = self._engine, self._clock
        ends = clock.monotonic() + PATIENCE_S
        while not engine.credits_settled(key) and clock.monotonic() < ends:
            self.urgent.set()
            await asyncio.sleep(LOOK_S)
        return engine.credits_settled(key)

    @property
    def every_s(self) -> float:
        """Seconds between two writes of one account, at least; fewer under short horizons."""
        return EVERY_S * min(self._lags(), default=5) / 5

    def _lags(self) -> Iterator[int]:
        """Go over the seconds that the ledgers of each policy stay behind."""
        for one in self._intake.policies.values():
            if not self._is_broken(one):
                yield lag_of(translate.policy(one).horizon_s)

    def is_due(self) -> bool:
        """Say whether any account may be written again."""
        now, every_s = self._clock.monotonic(), self.every_s
        accounts_due = not self._last or any(now - one >= every_s for one in self._last.values())
        others = self._budgets.is_due(every_s) or self._usages.is_due(every_s)
        return accounts_due or others

    async def write(self, *, at_once: bool = False, rows_too: bool = False) -> None:
        """Write what differs from what is stored and is due; with `at_once` whether due or not.

        Rows of usage, which always differ, only with `rows_too`.
        """
        now, every_s = self._clock.monotonic(), self.every_s
        for record in self._engine.credit_accounts():
            due = at_once or now - self._last.get(record.name, -EVERY_S) >= every_s
            if due:
                self._last[record.name] = now
            if due and self._differs(record):
                await self._write(record)
        anyhow = bool(self._waiting or self._changing)
        await self._budgets.write(every_s, at_once=at_once, anyhow=anyhow)
        rows_now = rows_too or (at_once and bool(self._changing))
        await self._usages.write(every_s, at_once=rows_now, anyhow=anyhow)
        for key in list(self._waiting):
            if self._engine.credits_cover(key):
                del self._waiting[key]
                self._attend(key)
        changing, self._changing = self._changing, {}
        for key in changing:
            self._attend(key)
        for key in list(self._leaving):
            if self._engine.credits_name(key):
                del self._leaving[key]
                self._attend(key)

    async def fold(self) -> None:
        """Make rows of usage coarser that have aged."""
        await self._usages.fold(self._intake.ages)

    def _differs(self, record: CreditAccountFact) -> bool:
        """Say whether a ledger says something new; also that nothing happened, if one waits."""
        known = self._written.get(record.name)
        if known is None or self._waiting or record.name in self._asked:
            return True
        passed_s = (record.as_of or 0) - (known.as_of or 0)
        return passed_s >= UNCHANGED_S or replace(known, as_of=record.as_of) != record

    async def _write(self, record: CreditAccountFact) -> None:
        name, intake = record.name, self._intake
        try:
            if name not in intake.accounts:
                body = msgspec.json.encode(_new(record))
                self._learn(await self._writes.create(CREDIT_ACCOUNTS.within(), body))
            meta = intake.accounts[name].metadata
            body = patch(meta, {"status": translate.account_status(record)})
            target = CREDIT_ACCOUNTS.at(name, subresource="status")
            self._learn(await self._writes.patch(target, body))
            self._written[name] = record
            self._asked.pop(name, None)
        except ConflictError:
            self._written.pop(name, None)
            await self._read(name)
        except KubeError as error:
            self._written.pop(name, None)
            logger.info("CreditAccount %s was not written: %s", name, error)

    async def _read(self, name: str) -> None:
        """Read an account that somebody else changed; the ledger in memory stays what counts."""
        try:
            self._learn(await self._writes.client.get(CREDIT_ACCOUNTS.at(name)))
        except KubeError as error:
            logger.debug("CreditAccount %s cannot be read: %s", name, error)
            self._intake.accounts.pop(name, None)

    def _learn(self, reply: bytes) -> None:
        self._intake.take_account(msgspec.json.decode(reply, type=wire.CreditAccount))

    def _is_broken(self, found: wire.CreditPolicy) -> bool:
        return f"policy/{found.metadata.name}" in self._intake.broken


def _new(record: CreditAccountFact) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION,
        "kind": "CreditAccount",
        "metadata": {"name": record.name},
        "spec": translate.account_spec(record),
    }
