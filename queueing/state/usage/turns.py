"""The usage histories of LocalQueues, by which they take turns (admission fair sharing, KEP-4136).

A history is brought up to date when what its LocalQueue runs changes, and at sampling points: the
multiples of the sampling interval since the epoch. In between it does not change, so that the order
of LocalQueues does not depend on when cycles run. As usage is constant in between, more points
would not give another sum.

Invariant: what runs, and what is charged ahead, are the sums over the charges of the LocalQueue.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.admission_fair_sharing import (
    consumed,
    in_units,
    local_usage,
    penalty,
    whole_units,
)
from queueing.core.facts import LocalQueueFact
from queueing.core.names import FlavorResource, Key, ResourceName
from queueing.core.settings import AdmissionFairSharing

Sums = dict[ResourceName, int]
NEGLIGIBLE = 0.0005
"""Whole units below which the history of a resource that is not in use is dropped: it would be
shown as 0 in the status."""


@dataclass(slots=True)
class LocalQueueAccount:
    """The usage history of one LocalQueue, and what its workloads hold."""

    history: dict[ResourceName, float] = field(default_factory=dict)
    """In whole units: cores, bytes."""
    at: float | None = None
    """The time up to which the history goes; None before it was first brought up to date."""
    weight: float = 1.0
    running: Sums | None = None
    """What has run since `at`; None if only the present is known, as after a restart."""
    used: Sums = field(default_factory=dict)
    """What is admitted by facts."""
    ahead: Sums = field(default_factory=dict)
    """Entry penalties, in grains, of workloads that are assumed or only hold a reservation."""
    arrived: Sums = field(default_factory=dict)
    """Entry penalties, in grains, of workloads admitted since `at`: they become history."""
    usage: float | None = None
    """A memo of `Turns.usage`; None if it must be computed anew."""


@dataclass(slots=True, eq=False)
class Turns:
    """Usage histories by LocalQueue."""

    settings: AdmissionFairSharing
    accounts: defaultdict[Key, LocalQueueAccount] = field(
        default_factory=lambda: defaultdict(LocalQueueAccount)
    )
    changed: dict[Key, None] = field(default_factory=dict)
    """What changed since the last `advance`."""
    _sampled: float = float("-inf")

    def open(self, fact: LocalQueueFact) -> None:
        """Take in a LocalQueue. The history in its status is used only if none is known yet."""
        account = self.accounts[fact.key]
        account.weight = float(fact.fair_weight) if fact.fair_divisor is None else fact.fair_divisor
        if account.at is None and fact.sampled_at is not None:
            account.history = dict(fact.consumed)
            account.at = fact.sampled_at
        self._note_change(fact.key, account)

    def close(self, key: Key) -> None:
        """Forget the history of a deleted LocalQueue; what its workloads hold stays counted."""
        account = self.accounts.pop(key, None)
        if account is not None and (account.used or account.ahead):
            self.accounts[key] = LocalQueueAccount(used=account.used, ahead=account.ahead)

    def charge(
        self, key: Key, usage: Mapping[FlavorResource, int], *, runs: bool, sign: int
    ) -> None:
        """Add a charge, or with sign -1 remove it; `runs` if it is admitted by a fact.

        A charge that does not run yet counts as its entry penalty.
        """
        account = self.accounts[key]
        requests = _by_resource(usage)
        sums = account.used if runs else account.ahead
        charged = requests if runs else penalty(requests, self.settings)
        for resource, amount in charged.items():
            left = sums.get(resource, 0) + sign * amount
            if left:
                sums[resource] = left
            else:
                sums.pop(resource, None)
        self._note_change(key, account)

    def arrive(self, key: Key, usage: Mapping[FlavorResource, int]) -> None:
        """Note that a workload is admitted by a fact now: its entry penalty becomes history."""
        arrived = self.accounts[key].arrived
        for resource, grains in penalty(_by_resource(usage), self.settings).items():
            arrived[resource] = arrived.get(resource, 0) + grains

    def usage(self, key: Key | None) -> float:
        """Return the usage by which LocalQueues take turns, the least first; 0 if unknown."""
        account = None if key is None else self.accounts.get(key)
        if account is None:
            return 0.0
        if account.usage is None:
            account.usage = local_usage(
                account.history,
                in_units(account.ahead, self.settings),
                weights=self.settings.weights,
                queue_weight=account.weight,
            )
        return account.usage

    def advance(self, now: float) -> list[Key]:
        """Bring histories up to date; return, sorted, LocalQueues whose place may have changed."""
        reached = dict.fromkeys(self.changed)
        self.changed.clear()
        for key in reached:
            account = self.accounts.get(key)
            if account is not None and _is_behind(account):
                self._bring(account, now, sampled=False)
        point = self._point(now)
        if point > self._sampled:
            self._sampled = point
            for key, account in self.accounts.items():
                if account.at is None or account.at < point:
                    self._bring(account, now if account.at is None else point, sampled=True)
                    reached[key] = None
        return sorted(reached)

    @property
    def next_at(self) -> float | None:
        """The next sampling point; None if time changes nothing."""
        interval = self.settings.sampling_interval_s
        moves = any(one.history or one.used for one in self.accounts.values())
        return self._sampled + interval if interval > 0 and moves else None

    def _note_change(self, key: Key, account: LocalQueueAccount) -> None:
        account.usage = None
        self.changed[key] = None

    def _point(self, now: float) -> float:
        """Return the last sampling point that is not after `now`."""
        interval = self.settings.sampling_interval_s
        return now // interval * interval if interval > 0 else now

    def _bring(self, account: LocalQueueAccount, now: float, *, sampled: bool) -> None:
        """Extend a history up to `now`; if the clock went back, no time passes.

        With a half-life of 0 it is emptied at sampling points, and only there.
        """
        before = now if account.at is None else account.at
        running = account.used if account.running is None else account.running
        history = dict(account.history)
        if sampled or self.settings.half_life_s > 0:
            history = consumed(
                account.history,
                {resource: whole_units(resource, amount) for resource, amount in running.items()},
                elapsed_s=max(0.0, now - before),
                half_life_s=self.settings.half_life_s,
            )
        for resource, amount in in_units(account.arrived, self.settings).items():
            history[resource] = history.get(resource, 0.0) + amount
        account.history = {
            resource: amount
            for resource, amount in history.items()
            if amount >= NEGLIGIBLE or resource in account.used
        }
        account.at = max(now, before)
        account.running = dict(account.used)
        account.arrived = {}
        account.usage = None


def _is_behind(account: LocalQueueAccount) -> bool:
    """Say whether usage changed, or an admission became a fact, since the history's last update."""
    return (
        account.at is None or bool(account.arrived) or account.running not in (None, account.used)
    )


def _by_resource(usage: Mapping[FlavorResource, int]) -> Sums:
    sums: Sums = {}
    for (_, resource), amount in usage.items():
        sums[resource] = sums.get(resource, 0) + amount
    return sums
