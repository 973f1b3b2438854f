"""Containers of a pod → requests in its claim: which have one of their own, and which share one.

The request of container 0 is named `c0`, that of init container 0 `i0`. Init containers run one
after the other before the others start, so that they can use the devices of a container that
requests as many. Sidecars (`restartPolicy: Always`) run beside the others and have their own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

SIDECAR = "Always"
Amount = TypeVar("Amount", int, str)
"""A number, or a quantity as the API server spells it."""


@dataclass(frozen=True, slots=True)
class InitAsk(Generic[Amount]):
    """What an init container asks for of one resource."""

    amount: Amount
    sidecar: bool = False


def uses(containers: Mapping[int, Amount], inits: Mapping[int, InitAsk[Amount]]) -> dict[int, str]:
    """Return the request that each init container uses, by position.

    `containers` maps positions to the amounts of one resource; who does not ask for it is left out.
    """
    first: dict[Amount, str] = {}
    for at, amount in containers.items():
        first.setdefault(amount, f"c{at}")
    for at, one in inits.items():
        if not one.sidecar:
            first.setdefault(one.amount, f"i{at}")
    return {at: f"i{at}" if one.sidecar else first[one.amount] for at, one in inits.items()}


def most_at_once(containers: Iterable[int], inits: Iterable[InitAsk[int]]) -> int:
    """Return how much a pod needs at once, as Kubernetes counts it; init containers in order."""
    beside = peak = 0
    for one in inits:
        peak = max(peak, beside + one.amount)
        beside += one.amount if one.sidecar else 0
    return max(peak, beside + sum(containers))
