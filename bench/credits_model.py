"""The ledger's formulas on a resource that can be divided at will and moved for nothing.

What the model itself does with the demands of `bursts`: no gangs, no Jobs, no engine. Where the
engine differs from it the engine is to blame, or that work comes in pieces; where both fall short,
the model is.
"""

from collections import deque
from collections.abc import Sequence

from bench.bursts import (
    CAPACITY,
    FAIR_PART,
    HALF_LIFE_SLOTS,
    HOARDER,
    HORIZON_SLOTS,
    OWN,
    Tenant,
    asks,
)
from bench.credits import Story, drawn
from queueing.core.credits.facts import BOUNDS

_LITTLE = 1e-9


def simulate(story: Story) -> list[Tenant]:
    """Run a story whose jobs last one slot; return its tenants."""
    known = drawn(story)
    balances = [0.0] * len(known)
    backlog: list[deque[list[float]]] = [deque() for _ in known]
    kept, bound = 0.5 ** (1 / HALF_LIFE_SLOTS), BOUNDS[story.mode]
    for slot in range(story.slots):
        for owner, tenant in enumerate(known):
            if not story.waits:
                backlog[owner].clear()
            asked = asks(tenant, slot, hoards=story.hoards and owner == HOARDER)
            backlog[owner].append([slot, asked])
        wanted = [sum(cores for _, cores in one) for one in backlog]
        exponents = [one / (HORIZON_SLOTS * FAIR_PART) for one in balances]
        held = _shared(wanted, [2.0 ** max(-bound, min(bound, one)) for one in exponents])
        for owner, tenant in enumerate(known):
            tenant.count(slot, held[owner])
            _work_off(tenant, backlog[owner], held[owner], slot)
        balances = [kept * one + rate for one, rate in zip(balances, _rates(held), strict=True)]
    return known


def _shared(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Give everybody its own quota, and what is left by weight until nobody wants more."""
    held = [min(one, float(OWN)) for one in wanted]
    left = CAPACITY - sum(held)
    while left > _LITTLE:
        open_ = [i for i, one in enumerate(wanted) if one - held[i] > _LITTLE]
        if not open_:
            break
        whole = sum(weights[i] for i in open_)
        level = min(left / whole, *((wanted[i] - held[i]) / weights[i] for i in open_))
        for i in open_:
            held[i] += level * weights[i]
        left -= level * whole
    return held


def _rates(held: Sequence[float]) -> list[float]:
    """Return what each earns less what it pays, in a slot."""
    borrowed = [max(0.0, one - OWN) for one in held]
    idle = [max(0.0, OWN - one) for one in held]
    lent = min(sum(borrowed), sum(idle))
    pooled = (sum(borrowed) - lent) / len(held)
    part = lent / sum(idle) if lent else 0.0
    return [part * i + pooled - b for i, b in zip(idle, borrowed, strict=True)]


def _work_off(tenant: Tenant, backlog: deque[list[float]], held: float, slot: int) -> None:
    while held > _LITTLE and backlog:
        first = backlog[0]
        served = min(held, first[1])
        tenant.waited += served * (slot - first[0])
        tenant.served += served
        held -= served
        first[1] -= served
        if first[1] <= _LITTLE:
            backlog.popleft()
