"""What is to be stored of credits, and whether what is stored includes what a workload held.

This is what others than the engine see of credits.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from queueing.core.credits.facts import (
    BudgetAccountFact,
    CreditAccountFact,
    CreditKind,
    UsageRecordFact,
)
from queueing.core.credits.holding import Holding
from queueing.core.facts import WorkloadFact
from queueing.core.names import CohortName, Key
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.agenda import Grants
from queueing.state.credits.policies import Policies
from queueing.state.credits.presence import Presence

Kind = TypeVar("Kind", CreditAccountFact, BudgetAccountFact, UsageRecordFact)


class Records:
    """Answers as of the last cycle.

    A restart begins from what is stored. So a workload may be deleted, release its quota or reserve
    again only when what it held is included there, or named as a leaver.
    """

    def __init__(
        self,
        accounts: Accounts,
        presence: Presence,
        policies: Policies,
        grants: Grants,
        workloads: Mapping[Key, WorkloadFact],
    ) -> None:
        self._accounts, self._presence, self._policies = accounts, presence, policies
        self._grants, self._workloads = grants, workloads
        self.at = 0
        """The time of the ledgers."""

    # What is to be stored -----------------------------------------------------------------------

    def accounts(self) -> tuple[CreditAccountFact, ...]:
        """Return the ledgers; none without a policy."""
        names = self._grants.names()
        return tuple(
            replace(one, grant_names={uid: names.get(uid, "") for uid in one.grants})
            for one in self._of(CreditAccountFact)
        )

    def budgets(self) -> tuple[BudgetAccountFact, ...]:
        """Return what is spent from and held in budgets."""
        return self._of(BudgetAccountFact)

    def usage(self) -> tuple[UsageRecordFact, ...]:
        """Return the hourly rows of usage, older hours of a tree first."""
        return self._of(UsageRecordFact)

    def is_altered(self) -> bool:
        """Say, once per change, whether all this should be stored now.

        It should after a change of quotas, prices or reclaimable pods, since no object contains the
        time of that. A restart from what is stored after it counts by the same terms.
        """
        presence = self._presence
        if presence.altered_at is None or presence.altered_at > self.at:
            return False
        presence.altered_at = None
        return True

    # What the stored objects include ------------------------------------------------------------

    def covers(self, workload: Key) -> bool:
        """Say whether a finished workload may be deleted: its end is included."""
        held = self._presence.held(workload)
        if held is None or held.until is None:
            return not self._presence.is_unheard(workload)
        until, accounts = held.until, self._accounts
        over = accounts.over(held.queue, held.local_queue)
        return all(accounts.reaches(one, until) for one in over)

    def names(self, workload: Key) -> bool:
        """Say whether an evicted workload may release its quota: it is named as a leaver."""
        return self._includes(workload, self._presence.held(workload))

    def settled(self, workload: Key) -> bool:
        """Say whether a workload may reserve again: what it held before is included, or named."""
        return self._includes(workload, self._presence.held_before(workload))

    def behind(self, workload: Key, since: int) -> tuple[str, ...]:
        """Return the accounts and budgets over a workload that are stored up to before `since`.

        To be asked before what it holds is changed: a restart counts the change from the time of
        the stored account on.
        """
        held = self._presence.held(workload)
        over = () if held is None else self._accounts.over(held.queue, held.local_queue)
        late = [one.name for one in over if not self._accounts.reaches(one, since)]
        return tuple(name for kind, name in late if kind is not CreditKind.USAGE)

    def policies(self) -> dict[str, tuple[CohortName, ...]]:
        """Return, for each credit policy, the root cohorts that it applies to."""
        return self._policies.governed()

    def _of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        found = self._accounts.records(kind.kind, self._presence.leaving(self._workloads))
        return tuple(one for one in found if isinstance(one, kind))

    def _includes(self, workload: Key, held: Holding | None) -> bool:
        if held is None or self._presence.is_unheard(workload):
            return not self._presence.is_unheard(workload)
        over = self._accounts.over(held.queue, held.local_queue)
        return all(self._accounts.tells_of(one, held) for one in over)
