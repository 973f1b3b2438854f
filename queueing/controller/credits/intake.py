"""Handles watch events of CreditPolicies, CreditGrants, CreditAccounts and CreditBudgets."""

import logging
from collections.abc import Callable

from queueing.controller.credits.usage_intake import UsageIntake
from queueing.core.credits.facts import CreditFact, CreditGone, CreditKind, Member
from queueing.core.credits.folding import Resolution
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate import budgets
from queueing.translate import credits as translate
from queueing.translate import credits_wire as wire
from queueing_api.quantity import QuantityError

logger = logging.getLogger(__name__)

LAG_S_MAX = 5
"""Seconds that a ledger lags behind the time, so that statuses written meanwhile are known."""


def lag_of(horizon_s: int) -> int:
    """Return the seconds that a policy's ledgers lag; less for short horizons, as in trials."""
    return max(1, min(LAG_S_MAX, horizon_s // 60))


class CreditIntake:
    """These objects as last seen. `observe` gets each fact, `changed` asks for a cycle."""

    def __init__(self, observe: Callable[[CreditFact], None], changed: Callable[[], None]) -> None:
        self._observe, self._changed = observe, changed
        self.policies: dict[str, wire.CreditPolicy] = {}
        self.grants: dict[str, wire.CreditGrant] = {}
        self.accounts: dict[str, wire.CreditAccount] = {}
        self.budgets: dict[str, wire.CreditBudget] = {}
        self.usages = UsageIntake(observe)
        self.broken: dict[str, str] = {}
        """Why an object cannot be used, by `policy/…`, `grant/…` or `budget/…` and its name."""

    def on_policy(self, event: WatchEvent[wire.CreditPolicy]) -> None:
        """Handle a watch event of a CreditPolicy; one that cannot be used counts as absent."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.policies[found.metadata.name] = found
                self._take(f"policy/{found.metadata.name}", lambda: _policy(found))
            case Deleted(key=key):
                self.policies.pop(key, None)
                self._take(f"policy/{key}", lambda: CreditGone(CreditKind.POLICY, key))
            case Synced():
                pass

    def on_grant(self, event: WatchEvent[wire.CreditGrant]) -> None:
        """Handle a watch event of a CreditGrant; one that cannot be used counts as absent."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.grants[found.metadata.name] = found
                self._take(f"grant/{found.metadata.name}", lambda: translate.grant(found))
            case Deleted(key=key):
                self.grants.pop(key, None)
                self._take(f"grant/{key}", lambda: CreditGone(CreditKind.GRANT, key))
            case Synced():
                pass

    def on_account(self, event: WatchEvent[wire.CreditAccount]) -> None:
        """Handle a watch event of a CreditAccount."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.take_account(found)
            case Deleted(key=key):
                self.accounts.pop(key, None)
                self._observe(CreditGone(CreditKind.ACCOUNT, key))
            case Synced():
                pass

    def on_budget(self, event: WatchEvent[wire.CreditBudget]) -> None:
        """Handle a watch event of a CreditBudget: its spec, and the spending in its status."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.take_budget(found)
            case Deleted(key=key):
                self.budgets.pop(key, None)
                self._take(f"budget/{key}", lambda: CreditGone(CreditKind.BUDGET, key))
            case Synced():
                pass

    def ages(self, root: Member) -> dict[Resolution, int]:
        """Return by resolution at which age, in seconds, rows of usage are added up or deleted.

        By the policy that names the root cohort of the tree, else the first by name that names
        none; without such a policy by the defaults.
        """
        keeping = [
            one.spec
            for name, one in sorted(self.policies.items())
            if one.spec.usage_records is not None and f"policy/{name}" not in self.broken
        ]
        named = (one for one in keeping if root.kind == "Cohort" and root.name in one.root_cohorts)
        general = (one for one in keeping if not one.root_cohorts)
        found = next(named, None) or next(general, None)
        return translate.ages(None if found is None else found.usage_records)

    def take_budget(self, found: wire.CreditBudget) -> None:
        """Store a budget and pass it to the engine, unless a newer version is known."""
        name = found.metadata.name
        known = self.budgets.get(name)
        if known is not None and not found.metadata.is_newer_than(known.metadata):
            return
        self.budgets[name] = found
        if known is None or known.spec != found.spec:
            self._take(f"budget/{name}", lambda: budgets.budget(found))
        if f"budget/{name}" not in self.broken:
            self._observe(budgets.budget_account(found))

    def take_account(self, found: wire.CreditAccount) -> None:
        """Store an account and pass it to the engine, unless a newer version is known."""
        name = found.metadata.name
        known = self.accounts.get(name)
        if known is not None and not found.metadata.is_newer_than(known.metadata):
            return
        self.accounts[name] = found
        self._observe(translate.account(found))

    def _take(self, name: str, read: Callable[[], CreditFact]) -> None:
        self.broken.pop(name, None)
        try:
            fact = read()
        except (QuantityError, ValueError) as error:
            self.broken[name] = str(error)
            logger.warning("%s cannot be used: %s", name, error)
            kind, _, bare = name.partition("/")
            fact = CreditGone(_KINDS[kind], bare)
        self._observe(fact)
        self._changed()


def _policy(found: wire.CreditPolicy) -> CreditFact:
    fact = translate.policy(found)
    return translate.policy(found, lag_s=lag_of(fact.horizon_s))


_KINDS = {"policy": CreditKind.POLICY, "grant": CreditKind.GRANT, "budget": CreditKind.BUDGET}
