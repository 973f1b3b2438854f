"""The composition of this package within one term."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from queueing.clock import Clock
from queueing.controller.credits.accounts import AccountDependencies, Accounts
from queueing.controller.credits.conditions import PolicyConditions
from queueing.controller.credits.intake import Intake
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Reflector
from queueing.state.engine import Engine
from queueing.translate import credits_wire as wire

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
GATHER_S = 0.02
"""For a cycle, which takes statuses in, and for others who leave at the same time."""
FAREWELL_S = 4.0
"""How long the last accounts of a term may take to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What the term lends."""

    engine: Engine
    writes: LeaderWrites
    clock: Clock
    wake: Callable[[], None]
    """Asks for a cycle, which brings the ledgers up to date."""
    attend: Callable[[Key], None]
    """Has a Workload looked at, and who owns it."""
    fair_sharing: bool


class Credits:
    """Ledgers, policies and grants in one term of leadership."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.intake = Intake(dependencies.engine.observe_credit, dependencies.wake)
        self.accounts = Accounts(
            AccountDependencies(
                engine=dependencies.engine,
                writes=dependencies.writes,
                clock=dependencies.clock,
                intake=self.intake,
                attend=dependencies.attend,
            )
        )
        self._conditions = PolicyConditions(
            dependencies.engine,
            dependencies.writes,
            dependencies.clock,
            self.intake,
            fair_sharing=dependencies.fair_sharing,
        )

    def reflectors(self, client: Client) -> Iterator[tuple[Reflector[Any], str]]:
        """Make what follows our kinds; a server that does not serve them must not stop us."""
        for resource, kind, on_event in (
            (resources.CREDIT_POLICIES, wire.CreditPolicy, self.intake.on_policy),
            (resources.CREDIT_GRANTS, wire.CreditGrant, self.intake.on_grant),
            (resources.CREDIT_ACCOUNTS, wire.CreditAccount, self.intake.on_account),
            (resources.CREDIT_BUDGETS, wire.CreditBudget, self.intake.on_budget),
            (resources.USAGE_RECORDS, wire.UsageRecord, self.intake.usages.on_event),
        ):
            made: Reflector[Any] = Reflector(client, resource.within(), kind, on_event)
            yield made, resource.plural

    async def run(self) -> NoReturn:
        """Write accounts and conditions when they are due, for ever."""
        woken = False
        while True:
            altered = self._dependencies.engine.credits_altered()
            if altered:
                self.accounts.urgent.set()
            if self.accounts.urgent.is_set():
                self.accounts.urgent.clear()
                self._dependencies.wake()
                await asyncio.sleep(GATHER_S)
                await self.accounts.write(at_once=True, rows_too=altered)
            if woken:
                await self.accounts.write()
                await self.accounts.fold()
                await self._conditions.write()
            counts = bool(self.intake.policies or self.intake.budgets)
            woken = counts and self.accounts.is_due()
            if woken:
                self._dependencies.wake()
            elif self.intake.policies or self.intake.grants:
                await self._conditions.write()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self.accounts.urgent.wait()

    async def farewell(self) -> None:
        """Write all accounts as the term ends, as long as the lease allows it."""
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self.accounts.write(at_once=True, rows_too=True)
        except TimeoutError:
            logger.warning("not all credit accounts were written at the end of the term")
