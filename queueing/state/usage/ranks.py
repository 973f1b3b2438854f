"""Which LocalQueues of a ClusterQueue go first where credits have them in order.

By how many times its part of the queue a namespace holds now, and once more, over what its balance
multiplies that by: (1 + held / part) / 2^E, the smallest first. So whoever gets something counts at
once, before any ledger hears of it, and balances say how much more or less is fair. Without the
one, whoever holds nothing would go before all others, whatever it owes. While no balance bends
anything LocalQueues have the order that they have without credits.

Invariant: what a namespace holds is the sum over the charges of the queue.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf

from queueing.core.credits.bend import factor
from queueing.core.credits.prices import Prices
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, namespace_of

Plain = Callable[[Key | None], float]
"""By what LocalQueues go first without credits."""


class Rank:
    """The order of the LocalQueues of one queue."""

    __slots__ = ("_held", "_keys", "bends", "exponents", "parts", "plain", "prices")

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self.prices = Prices({})
        self.parts: Mapping[str, int] = {}
        """What each namespace is entitled to, in micro-credits per second."""
        self.exponents: Mapping[str, int] = {}
        """By how many steps of a doubling that is bent."""
        self.bends = False
        self._held: dict[str, dict[FlavorResource, int]] = {}
        self._keys: dict[str, float] = {}

    def follow(
        self, prices: Prices, parts: Mapping[str, int], exponents: Mapping[str, int]
    ) -> None:
        """Go by other terms or balances from now on."""
        self.prices, self.parts, self.exponents = prices, parts, exponents
        self.bends = any(exponents.values())
        self._keys.clear()

    def count(self, holders: Iterable[Holder]) -> None:
        """Take over all that is charged to the queue."""
        for one in holders:
            if one.local_queue is not None:
                self.charge(one.local_queue, one.usage, 1)

    def charge(self, local_queue: Key, usage: Mapping[FlavorResource, int], sign: int) -> None:
        """Count what is held through a LocalQueue in, or with sign -1 out."""
        name = namespace_of(local_queue)
        held = self._held.setdefault(name, {})
        for resource, amount in usage.items():
            left = held.get(resource, 0) + sign * amount
            if left:
                held[resource] = left
            else:
                held.pop(resource, None)
        if not held:
            del self._held[name]
        self._keys.pop(name, None)

    def key(self, local_queue: Key | None) -> float:
        """Return the number by which LocalQueues go, the smallest first."""
        if not self.bends or local_queue is None:
            return self.plain(local_queue)
        name = namespace_of(local_queue)
        found = self._keys.get(name)
        if found is None:
            found = self._keys[name] = self._key(name)
        return found

    def sums(self) -> Mapping[str, Mapping[FlavorResource, int]]:
        """Return what each namespace holds, for the invariants."""
        return self._held

    def _key(self, name: str) -> float:
        part = self.parts.get(name, 0)
        if part <= 0:
            return inf
        held = sum(self.prices.by_flavor(self._held.get(name, {})).values())
        return float((part + held) / (part * factor(self.exponents.get(name, 0))))
