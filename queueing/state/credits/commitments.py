"""What charged workloads may still cost their budgets.

It is kept from cycle to cycle, and updated for workloads whose charge or status changed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from queueing.core.credits.holding import seconds_left, seconds_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName, Uid
from queueing.state.credits.policies import Policies
from queueing.state.credits.purse import Purse
from queueing.state.usage.charges import Charge


class Commitment(NamedTuple):
    """What a charged workload may cost: `cost` micro-credits per second, `seconds` from `since`."""

    uid: Uid
    since: int
    cost: int
    seconds: int

    def left(self, at: int) -> int:
        """Return what it may still cost from a time on."""
        return self.cost * seconds_left(self.since, self.seconds, at)


class Commitments:
    """By budget, the commitments of all charged workloads with a maximum execution time."""

    def __init__(
        self, policies: Policies, over: Callable[[QueueName, Key | None], Sequence[Purse]]
    ) -> None:
        self._policies, self._over = policies, over
        self._of: dict[str, dict[Key, Commitment]] = {}
        self._under: dict[Key, tuple[str, ...]] = {}
        """Workload → the budgets under which it has a commitment."""

    def follow(
        self,
        charges: Mapping[Key, Charge],
        workloads: Mapping[Key, WorkloadFact],
        stirred: Iterable[Key] | None,
    ) -> None:
        """Bring commitments up to date with what is charged now.

        `stirred` are the workloads whose charge or status may have changed; None for all, because
        budgets, what they cover, or prices did.
        """
        if stirred is None:
            self._of.clear()
            self._under.clear()
        for key in charges if stirred is None else stirred:
            for name in self._under.pop(key, ()):
                del self._of[name][key]
            charge, fact = charges.get(key), workloads.get(key)
            if charge is not None and fact is not None:
                self._commit(charge, fact)

    def left(self, name: str, at: int, *, without: Collection[Uid] = ()) -> int:
        """Return what all workloads but some may still cost a budget from a time on."""
        committed = self._of.get(name, {}).values()
        return sum(one.left(at) for one in committed if one.uid not in without)

    def _commit(self, charge: Charge, fact: WorkloadFact) -> None:
        """Store the commitment of a workload under each budget that covers it."""
        holder = charge.holder
        names = tuple(one.fact.name for one in self._over(holder.queue, holder.local_queue))
        seconds = seconds_of(fact) if names else None
        if seconds is None:
            return
        cost, since = self._policies.cost(holder.queue, holder.usage), int(holder.reserved_at)
        self._under[holder.key] = names
        for name in names:
            mine = self._of.setdefault(name, {})
            mine[holder.key] = Commitment(holder.uid, since, cost, seconds)
