"""Puts the package together for one term: its parts, what it watches, and the loop that stores."""

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
"""Seconds between two looks at whether an account is due."""
GATHER_S = 0.02
"""Seconds before an urgent write, in which a cycle brings the ledgers up to date, and others that
wait for the accounts may join."""
FAREWELL_S = 4.0
"""Seconds that the last writes of a term may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What the package needs of the term."""

    engine: Engine
    writes: LeaderWrites
    clock: Clock
    cycle: asyncio.Event
    """Asks for a cycle, which brings the ledgers up to date."""
    attend: Callable[[Key], None]
    """Asks for a Workload and its Jobs to be reconciled."""
    fair_sharing: bool
    """Whether the Configuration has `fairSharing`, without which credits change no share."""


class Credits:
    """The parts of the package in one term of leadership."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.intake = Intake(dependencies.engine.observe, dependencies.cycle.set)
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
        """Yield the reflectors, each with the plural name of its kind; nothing runs yet.

        The session waits for them by `checkpoints.shell.composition.is_known`, since a cluster may
        not have these kinds.
        """
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
        """Store accounts and conditions when they are due, for ever.

        When accounts are due, a cycle is asked for first, and they are stored at the next look:
        cycles bring the ledgers up to date.
        """
        woken = False
        while True:
            altered = self._dependencies.engine.credits.is_altered()
            if altered:
                self.accounts.urgent.set()
            if self.accounts.urgent.is_set():
                self.accounts.urgent.clear()
                self._dependencies.cycle.set()
                await asyncio.sleep(GATHER_S)
                await self.accounts.write(at_once=True, rows_too=altered)
            if woken:
                await self.accounts.write()
                await self.accounts.fold()
                await self._conditions.write()
            counts = bool(self.intake.policies or self.intake.budgets)
            woken = counts and self.accounts.is_due()
            if woken:
                self._dependencies.cycle.set()
            elif self.intake.policies or self.intake.grants:
                await self._conditions.write()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self.accounts.urgent.wait()

    async def farewell(self) -> None:
        """Store all accounts as the term ends, as far as the Lease still allows writes."""
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self.accounts.write(at_once=True, rows_too=True)
        except TimeoutError:
            logger.warning("not all credit accounts were written at the end of the term")
