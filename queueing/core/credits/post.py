"""What one child of a ledger lends and borrows in one flavor: from amounts to credits per second.

Costs are in micro-credits per second, rounded down. It is undefined which of a child's workloads
use its own quota and which borrow. So the child pays by the mean factor of the priority classes
(`classFactors`) of all its workloads in the flavor, each weighted by its cost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from typing_extensions import override

from queueing.core.credits.facts import Member
from queueing.core.credits.group import WEIGHT_UNIT
from queueing.core.credits.market import Position
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorName, FlavorResource, Key, namespace_of

FACTOR_UNIT = 1000
"""Parts of one in which the factors of priority classes are counted."""


@dataclass(slots=True, eq=False)
class Post:
    """The usage of one child in one flavor: a row for each of its resources."""

    member: Member
    flavor: FlavorName
    prices: Prices
    rows: list["ResourceRow"] = field(default_factory=list)
    cost: int = 0
    """What its workloads cost; counted only if priority classes have factors."""
    weighted: int = 0
    """The sum over workloads of cost times factor, in parts of `FACTOR_UNIT`."""

    @property
    def entitlement(self) -> int:
        """What the child may use without paying."""
        return self.prices.together([row.own for row in self.rows])

    @property
    def whole(self) -> int:
        """What all that the child uses costs."""
        return self.prices.together([row.price * row.usage // row.per for row in self.rows])

    def bill(self, cost: int, factor: Fraction, sign: int) -> None:
        """Count what a workload costs, or with sign -1 remove it."""
        self.cost += sign * cost
        self.weighted += sign * int(cost * factor * FACTOR_UNIT)

    def position(self) -> Position:
        """Return what the child lends, borrows and pays now.

        Of the resources the dearest counts, or all if prices add up.
        """
        adds_up = self.prices.add_up
        idle = borrowed = 0
        for row in self.rows:
            margin = row.margin()
            if margin > 0:
                idle = idle + margin if adds_up else max(idle, margin)
            elif margin < 0:
                borrowed = borrowed - margin if adds_up else max(borrowed, -margin)
        paying = borrowed
        if self.cost > 0:
            paying = borrowed * self.weighted // (self.cost * FACTOR_UNIT)
        return Position(idle, borrowed, paying)


class ResourceRow:
    """One resource of a child of a cohort: its price and quota, and what the child uses.

    `local` is the part of the quota that is never lent. Quotas are those of the last time at which
    a ledger took over new terms, so that usage until a change counts by the earlier ones.
    """

    __slots__ = ("local", "own", "per", "post", "price", "quota", "usage")

    def __init__(self, post: Post, resource: FlavorResource, *, quota: int, local: int = 0) -> None:
        self.post = post
        self.price, self.per = post.prices.rate(resource.flavor, resource.resource)
        self.quota, self.local = quota, local
        self.own = self.price * quota // self.per
        """What the quota costs."""
        self.usage = 0
        post.rows.append(self)

    def margin(self) -> int:
        """Return what is left idle, or as a negative number what is borrowed."""
        spare = self.quota - self.usage
        if spare < 0:
            return -(self.price * -spare // self.per)
        return self.price * max(0, min(spare, self.quota - self.local)) // self.per


class NamespaceRow(ResourceRow):
    """One resource of a namespace, which may use the fraction `part` / `whole` of an amount.

    That is a cost, not an amount: half of three devices is not rounded to whole devices. What a
    namespace uses beyond its part is borrowed from namespaces that leave theirs idle, and the rest
    from outside of the queue. So a namespace that stays within its part pays nothing, and nobody
    earns by idling while all do so (docs/decisions/0043).
    """

    __slots__ = ()

    def __init__(self, post: Post, resource: FlavorResource, part: int, whole: int) -> None:
        super().__init__(post, resource, quota=0)
        self.own = self.price * part // (self.per * whole) if whole else 0

    @override
    def margin(self) -> int:
        return self.own - self.price * self.usage // self.per


def weights_of(local_queues: Iterable[tuple[Key, Fraction]]) -> dict[str, int]:
    """Return the weight of each namespace, in millionths: the largest of its LocalQueues'.

    It is not their sum, so that a namespace gains nothing by creating another LocalQueue.
    """
    found: dict[str, int] = {}
    for key, weight in local_queues:
        name = namespace_of(key)
        found[name] = max(found.get(name, 0), int(weight * WEIGHT_UNIT))
    return found
