"""What charged workloads may still cost their budgets.

It is kept from cycle to cycle, and updated for workloads whose charge or status changed.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.core.credits.allowance import cost_of, seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.coverage import Coverage
from queueing.state.usage.charges import Charge


class Commitment(NamedTuple):
    """What a charged workload may cost: `cost` micro-credits per second, `seconds` from `since`."""

    uid: Uid
    since: int
    cost: int
    seconds: int

    def left(self, at: int) -> int:
        """Return what it may still cost from a time on."""
        return self.cost * max(0, self.seconds - max(0, at - self.since))


@dataclass(slots=True)
class Commitments:
    """By budget, the commitments of all charged workloads with a maximum execution time."""

    coverage: Coverage
    _of: dict[str, dict[Key, Commitment]] = field(default_factory=dict)
    _under: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    """Workload → the budgets under which it has a commitment."""
    _sums: dict[str, tuple[int, int]] = field(default_factory=dict)
    """A memo: budget → time and value of its last sum, while its commitments are the same."""
    _stirred: dict[Key, None] | None = None
    """Workloads whose charge or status may have changed since the last cycle; None for all."""

    def renew(self, budgets: Iterable[str]) -> None:
        """Begin anew, because budgets, what they cover, or prices changed."""
        self._of = {name: {} for name in budgets}
        self._under.clear()
        self._sums.clear()
        self._stirred = None

    def stir(self, key: Key) -> None:
        """Note that the charge or the status of a workload may have changed."""
        if self._stirred is not None:
            self._stirred[key] = None

    def follow(
        self, tree: QuotaTree, charges: Mapping[Key, Charge], workloads: Mapping[Key, WorkloadFact]
    ) -> None:
        """Bring commitments up to date with what is charged now."""
        stirred: Iterable[Key] = charges if self._stirred is None else self._stirred
        for key in stirred:
            for name in self._under.pop(key, ()):
                del self._of[name][key]
                self._sums.pop(name, None)
            charge, fact = charges.get(key), workloads.get(key)
            if charge is not None and fact is not None:
                self._hold(tree, charge, fact)
        self._stirred = {}

    def left(self, name: str, at: int, *, without: Collection[Uid] = ()) -> int:
        """Return what all workloads but some may still cost a budget from a time on."""
        committed = self._of[name].values()
        if without:
            return sum(one.left(at) for one in committed if one.uid not in without)
        known = self._sums.get(name)
        if known is not None and known[0] == at:
            return known[1]
        found = sum(one.left(at) for one in committed)
        self._sums[name] = at, found
        return found

    def _hold(self, tree: QuotaTree, charge: Charge, fact: WorkloadFact) -> None:
        """Store the commitment of a workload under each budget that covers it."""
        holder = charge.holder
        names = self.coverage.over(tree, (holder.queue, holder.local_queue))
        seconds = seconds_of(fact) if names else None
        prices = None if seconds is None else self.coverage.prices_of(tree, holder.queue)
        if seconds is None or prices is None:
            return
        cost = cost_of(holder.usage, prices)
        self._under[holder.key] = names
        for name in names:
            self._of[name][holder.key] = Commitment(
                holder.uid, int(holder.reserved_at), cost, seconds
            )
            self._sums.pop(name, None)
