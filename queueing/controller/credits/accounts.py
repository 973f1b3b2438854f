"""Stores the credit ledgers, each as the status of one CreditAccount, at a low rate.

Other writes wait for them, so that after a crash the ledgers can be completed from Workloads'
statuses: `covered`, `recorded`, `preceded` and `until_settled` say whether one may be sent. Those
that must wait are asked for again once the accounts are stored.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from math import floor

import msgspec
from typing_extensions import override

from queueing.controller.credits.budgets import Budgets
from queueing.controller.credits.intake import CreditIntake, lag_of
from queueing.controller.credits.usage_records import UsageRecords
from queueing.controller.intake.pump import Pump
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import Ledgers
from queueing.core.credits.facts import CreditAccountFact
from queueing.core.names import Key
from queueing.kube.errors import ConflictError, KubeError
from queueing.kube.resources import CREDIT_ACCOUNTS
from queueing.translate import credits as translate
from queueing.translate import credits_wire as wire
from queueing.translate.outbound.conditions import patch

logger = logging.getLogger(__name__)

EVERY_S = 30.0
"""Least seconds between two writes of one account, for ledgers with the usual lag of 5 s."""
LOOK_S = 0.02
"""Seconds between two looks in `until_settled`."""
PATIENCE_S = 5.0
"""Seconds for which `until_settled` waits at most."""
NEAR_S = 5
"""Seconds that stored accounts may lag behind the ledgers when a workload's usage is to change."""
UNCHANGED_S = 300
"""Seconds that a stored account may lag behind a ledger in which nothing changes."""
API_VERSION = "queueing.dev/v1alpha1"


class Accounts(Ledgers):
    """Knows which ledgers differ from what is stored, and which Workloads wait for that.

    These are reconciled again, by the pump, when their writes may be sent.
    """

    def __init__(self, term: Term, intake: CreditIntake, pump: Pump) -> None:
        self._engine, self._writes, self._clock = term.engine, term.writes, term.clock
        self._intake, self._pump = intake, pump
        self._written: dict[str, CreditAccountFact] = {}
        """By name: each ledger as it was stored last."""
        self._last: dict[str, float] = {}
        """By name: when each account was due last (monotonic clock)."""
        self._waiting: dict[Key, None] = {}
        """Finished Workloads that `covered` refused."""
        self._leaving: dict[Key, None] = {}
        """Evicted Workloads that `recorded` refused."""
        self._changing: dict[Key, None] = {}
        """Workloads that `preceded` refused."""
        self._asked: dict[str, None] = {}
        """Accounts to be written although nothing in them changed."""
        self._budgets = Budgets(self._engine, self._writes, self._clock, self._intake)
        self._usages = UsageRecords(self._engine, self._writes, self._clock, self._intake.usages)
        self.urgent = asyncio.Event()
        """Set when a Workload waits for the accounts to be written at once."""

    @override
    def covered(self, key: Key) -> bool:
        """Say whether a finished Workload may lose our finalizer: its end is stored.

        If not, it is reconciled again when it may.
        """
        if self._engine.credits.covers(key):
            self._waiting.pop(key, None)
            return True
        self._waiting[key] = None
        return False

    @override
    def recorded(self, key: Key) -> bool:
        """Say whether an evicted Workload may release its quota: the stored accounts name it.

        If not, they are written at once, and it is reconciled again.
        """
        if self._engine.credits.names(key):
            self._leaving.pop(key, None)
            return True
        self._leaving[key] = None
        self.urgent.set()
        return False

    @override
    def preceded(self, key: Key) -> bool:
        """Say whether a Workload's usage may change: the accounts are stored up to just now.

        If not, they are written at once, and it is reconciled again. No status tells when the usage
        changed. After a crash, the new usage is counted from the time of the stored account on.
        """
        since = floor(self._clock.now()) - max(self._lags(), default=0) - NEAR_S
        behind = self._engine.credits.behind(key, since)
        if not behind:
            return True
        self._changing[key] = None
        self._asked.update(dict.fromkeys(behind))
        self.urgent.set()
        return False

    @override
    async def until_settled(self, key: Key) -> bool:
        """Wait until the stored accounts include what a Workload held before.

        False when that takes longer than `PATIENCE_S`.
        """
        engine, clock = self._engine, self._clock
        ends = clock.monotonic() + PATIENCE_S
        while not engine.credits.settled(key) and clock.monotonic() < ends:
            self.urgent.set()
            await asyncio.sleep(LOOK_S)
        return engine.credits.settled(key)

    @property
    def every_s(self) -> float:
        """Least seconds between two writes of one account; fewer if a policy's horizon is short."""
        return EVERY_S * min(self._lags(), default=5) / 5

    def _lags(self) -> Iterator[int]:
        """Yield for each usable policy the seconds that its ledgers lag behind."""
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
        """Store what differs and is due; with `at_once` whether it is due or not.

        Rows of usage, which always differ, are stored before they are due only with `rows_too`, or
        when a Workload that `preceded` refused waits for them.
        """
        now, every_s = self._clock.monotonic(), self.every_s
        for record in self._engine.credits.accounts():
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
            if self._engine.credits.covers(key):
                del self._waiting[key]
                self._pump.attend_key(key)
        changing, self._changing = self._changing, {}
        for key in changing:
            self._pump.attend_key(key)
        for key in list(self._leaving):
            if self._engine.credits.names(key):
                del self._leaving[key]
                self._pump.attend_key(key)

    async def fold(self) -> None:
        """Add up rows of usage that are old enough."""
        await self._usages.fold(self._intake.ages)

    def _differs(self, record: CreditAccountFact) -> bool:
        """Say whether a ledger must be stored: it changed, or a Workload waits for its time."""
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
        """Read an account that somebody else changed; the ledger in memory stays as it is."""
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
