"""Takes in policies, grants and accounts."""

import logging
from collections.abc import Callable

from queueing.core.credits.facts import CreditFact, CreditGone, CreditKind
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate import credits as translate
from queueing.translate import credits_wire as wire
from queueing_api.quantity import QuantityError

logger = logging.getLogger(__name__)

LAG_S_MAX = 5
"""How far the ledger stays behind: longer than a write may take to be heard of."""


def lag_of(horizon_s: int) -> int:
    """Return how far the ledger stays behind: for short horizons, as in trials, less."""
    return max(1, min(LAG_S_MAX, horizon_s // 60))


class Intake:
    """What is known of our kinds; `observe` hears each fact, `changed` that something is due."""

    def __init__(self, observe: Callable[[CreditFact], None], changed: Callable[[], None]) -> None:
        self._observe, self._changed = observe, changed
        self.policies: dict[str, wire.CreditPolicy] = {}
        self.grants: dict[str, wire.CreditGrant] = {}
        self.accounts: dict[str, wire.CreditAccount] = {}
        self.broken: dict[str, str] = {}
        """Policies and grants that cannot be used, and why."""

    def on_policy(self, event: WatchEvent[wire.CreditPolicy]) -> None:
        """Take in a CreditPolicy; one that cannot be used counts as absent."""
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
        """Take in a CreditGrant."""
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
        """Take in a CreditAccount; an older one than is known changes nothing."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.take_account(found)
            case Deleted(key=key):
                self.accounts.pop(key, None)
                self._observe(CreditGone(CreditKind.ACCOUNT, key))
            case Synced():
                pass

    def take_account(self, found: wire.CreditAccount) -> None:
        """Take in an account as it is stored."""
        name = found.metadata.name
        known = self.accounts.get(name)
        if (
            known is not None
            and _version(known) >= _version(found)
            and (known.metadata.uid == found.metadata.uid)
        ):
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
            fact = CreditGone(CreditKind.POLICY if kind == "policy" else CreditKind.GRANT, bare)
        self._observe(fact)
        self._changed()


def _policy(found: wire.CreditPolicy) -> CreditFact:
    fact = translate.policy(found)
    return translate.policy(found, lag_s=lag_of(fact.horizon_s))


def _version(found: wire.CreditAccount) -> int:
    return int(found.metadata.resource_version or 0)
