"""The order of the LocalQueues of a ClusterQueue whose namespaces have credit balances.

The smallest (1 + held / part) / 2^E comes first. `held` is what the LocalQueue's namespace holds
now, priced; `part` is what it is entitled to; E is the exponent by which its balance bends that
(docs/concepts/credits.md). So an admission counts at once, before any ledger includes it. Without
the 1, a namespace that holds nothing would come first whatever it owes. While no balance bends
anything, LocalQueues have the order that they have without credits (`plain`).

Invariant: what a namespace holds is the sum over the charges of the queue.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf

from queueing.core.credits.bend import factor
from queueing.core.credits.prices import Prices
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, namespace_of


class Rank:
    """The order of the LocalQueues of one ClusterQueue."""

    __slots__ = ("_keys", "bends", "exponents", "held", "parts", "plain", "prices")

    def __init__(self) -> None:
        self.plain: Callable[[Key | None], float] | None = None
        """The usage by which LocalQueues take turns without credits; None if they do not."""
        self.prices = Prices({})
        self.parts: Mapping[str, int] = {}
        """What each namespace is entitled to, in micro-credits per second."""
        self.exponents: Mapping[str, int] = {}
        """By how many steps each namespace's part is bent: see `bend.factor`."""
        self.bends = False
        """Whether any of these exponents is not 0."""
        self.held: dict[str, dict[FlavorResource, int]] = {}
        """What each namespace holds."""
        self._keys: dict[str, float] = {}

    def follow(
        self, prices: Prices, parts: Mapping[str, int], exponents: Mapping[str, int]
    ) -> None:
        """Take over new prices, parts and exponents."""
        self.prices, self.parts, self.exponents = prices, parts, exponents
        self.bends = any(exponents.values())
        self._keys.clear()

    def count(self, holders: Iterable[Holder]) -> None:
        """Count in all that is charged to the queue; called once, on an empty rank."""
        for one in holders:
            if one.local_queue is not None:
                self.charge(one.local_queue, one.usage, 1)

    def charge(self, local_queue: Key, usage: Mapping[FlavorResource, int], sign: int) -> None:
        """Add a charge of a LocalQueue, or with sign -1 remove it."""
        name = namespace_of(local_queue)
        held = self.held.setdefault(name, {})
        for resource, amount in usage.items():
            left = held.get(resource, 0) + sign * amount
            if left:
                held[resource] = left
            else:
                held.pop(resource, None)
        if not held:
            del self.held[name]
        self._keys.pop(name, None)

    def key(self, local_queue: Key | None) -> float:
        """Return the number that LocalQueues are ordered by, the smallest first."""
        if not self.bends or local_queue is None:
            return 0.0 if self.plain is None else self.plain(local_queue)
        name = namespace_of(local_queue)
        found = self._keys.get(name)
        if found is None:
            found = self._keys[name] = self._key(name)
        return found

    def _key(self, name: str) -> float:
        part = self.parts.get(name, 0)
        if part <= 0:
            return inf
        held = self.prices.total(self.held.get(name, {}))
        return float((part + held) / (part * factor(self.exponents.get(name, 0))))
