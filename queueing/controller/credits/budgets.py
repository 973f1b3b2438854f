"""Stores what budgets have spent, as the status of each CreditBudget, at a low rate."""

import logging
from dataclasses import replace

import msgspec

from queueing.clock import Clock
from queueing.controller.credits.intake import CreditIntake
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.credits.facts import BudgetAccountFact
from queueing.kube.errors import KubeError
from queueing.kube.resources import CREDIT_BUDGETS
from queueing.state.engine import Engine
from queueing.translate import budgets as translate
from queueing.translate import credits_wire as wire
from queueing.translate.outbound.conditions import Conditions, patch

logger = logging.getLogger(__name__)


class Budgets:
    """Knows which budgets differ from their status; called by `Accounts`."""

    def __init__(
        self, engine: Engine, writes: LeaderWrites, clock: Clock, intake: CreditIntake
    ) -> None:
        self._engine, self._writes, self._clock, self._intake = engine, writes, clock, intake
        self._written: dict[str, BudgetAccountFact] = {}
        self._last: dict[str, float] = {}

    def is_due(self, every_s: float) -> bool:
        """Say whether any budget may be written again."""
        now = self._clock.monotonic()
        return any(now - self._last.get(name, -every_s) >= every_s for name in self._intake.budgets)

    async def write(self, every_s: float, *, at_once: bool, anyhow: bool) -> None:
        """Store what differs and is due; `at_once`: due or not, `anyhow`: different or not.

        `every_s` is the least number of seconds between two writes of one budget.
        """
        now = self._clock.monotonic()
        for record in self._engine.credits.budgets():
            if record.name not in self._intake.budgets:
                continue
            if at_once or now - self._last.get(record.name, -every_s) >= every_s:
                self._last[record.name] = now
                if anyhow or self._differs(record):
                    await self._write(record)

    def _differs(self, record: BudgetAccountFact) -> bool:
        known = self._written.get(record.name)
        return known is None or replace(known, as_of=record.as_of) != record

    async def _write(self, record: BudgetAccountFact) -> None:
        found = self._intake.budgets[record.name]
        status = {**translate.budget_status(record), "conditions": self._conditions(found, record)}
        target = CREDIT_BUDGETS.at(record.name, subresource="status")
        try:
            reply = await self._writes.patch(target, patch(found.metadata, {"status": status}))
            self._intake.take_budget(msgspec.json.decode(reply, type=wire.CreditBudget))
            self._written[record.name] = record
        except KubeError as error:
            self._written.pop(record.name, None)
            logger.info("CreditBudget %s was not written: %s", record.name, error)

    def _conditions(self, found: wire.CreditBudget, record: BudgetAccountFact) -> object:
        conditions = Conditions(
            found.status.conditions, now=self._clock.now(), generation=found.metadata.generation
        )
        verdict = (
            ("Effective", "Workloads are let in only as far as it covers them")
            if record.bound
            else ("NoPrices", "No CreditPolicy that counts has prices for its holder")
        )
        conditions.set("Effective", true=record.bound, reason=verdict[0], message=verdict[1])
        return conditions.wire()
