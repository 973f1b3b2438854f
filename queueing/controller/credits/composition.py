"""Puts the package together for one term: its parts, what it watches, and the loop that stores."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Any, NoReturn

from queueing.controller.credits.accounts import Accounts
from queueing.controller.credits.conditions import PolicyConditions
from queueing.controller.credits.intake import CreditIntake
from queueing.controller.intake.pump import Pump
from queueing.controller.term import Term
from queueing.core.credits.facts import CreditFact
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Reflector
from queueing.translate import credits_wire as wire

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
"""Seconds between two looks at whether an account is due."""
GATHER_S = 0.02
"""Seconds before an urgent write, in which a cycle brings the ledgers up to date, and others that
wait for the accounts may join."""
FAREWELL_S = 4.0
"""Seconds that the last writes of a term may take."""


class Credits:
    """The parts of the package in one term of leadership.

    `fair_sharing`: the Configuration has it; without that credits change no share.
    """

    def __init__(self, term: Term, pump: Pump, *, fair_sharing: bool) -> None:
        self._term, self._cycle = term, term.queues.cycle
        self.intake = CreditIntake(self._observe, self._cycle.set)
        self.accounts = Accounts(term, self.intake, pump)
        self._conditions = PolicyConditions(
            term.engine, term.writes, term.clock, self.intake, fair_sharing=fair_sharing
        )

    def _observe(self, fact: CreditFact) -> None:
        """Pass a fact to the engine; from the first one on, writes wait for the accounts."""
        self._term.writes.ledgers = self.accounts
        self._term.engine.observe(fact)

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
            altered = self._term.engine.credits.is_altered()
            if altered:
                self.accounts.urgent.set()
            if self.accounts.urgent.is_set():
                self.accounts.urgent.clear()
                self._cycle.set()
                await asyncio.sleep(GATHER_S)
                await self.accounts.write(at_once=True, rows_too=altered)
            if woken:
                await self.accounts.write()
                await self.accounts.fold()
                await self._conditions.write()
            counts = bool(self.intake.policies or self.intake.budgets)
            woken = counts and self.accounts.is_due()
            if woken:
                self._cycle.set()
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
