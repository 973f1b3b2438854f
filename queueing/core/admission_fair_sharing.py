"""Usage history of LocalQueues, by which those of one ClusterQueue take turns.

The history is an exponential average of what is admitted, in whole units (cores, bytes). Each
admission is charged ahead as a penalty, so that one LocalQueue cannot take all between samples.
"""

from collections.abc import Mapping
from math import inf

from queueing.core.names import ResourceName
from queueing.core.settings import AdmissionFairSharing

Amounts = Mapping[ResourceName, float]
"""In whole units: cores, not milli-cores."""


def whole_units(resource: ResourceName, amount: int) -> float:
    """Turn an amount as counted everywhere else (cpu in milli-units) into whole units."""
    return amount / 1000 if resource == "cpu" else float(amount)


def decay(elapsed_s: float, half_life_s: float) -> float:
    """Return the part of the history that `elapsed_s` seconds replace.

    alpha(t) = 1 - 0.5^(t / half-life). With a half-life of 0 nothing of the present is kept.
    """
    if half_life_s <= 0:
        return 0.0
    return float(1.0 - 0.5 ** (elapsed_s / half_life_s))


def consumed(
    history: Amounts, admitted: Amounts, *, elapsed_s: float, half_life_s: float
) -> dict[ResourceName, float]:
    """Bring a history up to date: (1 - alpha) * history + alpha * what is admitted now.

    With a half-life of 0 it starts empty at each sample.
    """
    if half_life_s <= 0:
        return {}
    alpha = decay(elapsed_s, half_life_s)
    names = dict.fromkeys((*sorted(history), *sorted(admitted)))
    return {
        name: (1.0 - alpha) * history.get(name, 0.0) + alpha * admitted.get(name, 0.0)
        for name in names
    }


def penalty(
    requests: Mapping[ResourceName, int], settings: AdmissionFairSharing
) -> dict[ResourceName, int]:
    """Return what an admission charges ahead, in grains: alpha(sampling interval) * requests.

    Requests are as counted everywhere else. What is less than a grain is not charged.
    """
    alpha = decay(settings.sampling_interval_s, settings.half_life_s)
    grains = settings.grains
    return {
        name: int(float(amount * (grains // 1000 if name == "cpu" else grains)) * alpha)
        for name, amount in requests.items()
    }


def in_units(penalties: Mapping[ResourceName, int], settings: AdmissionFairSharing) -> Amounts:
    """Turn sums of penalties into whole units."""
    return {name: grains / settings.grains for name, grains in penalties.items()}


def local_usage(
    history: Amounts, ahead: Amounts, *, weights: Amounts, queue_weight: float
) -> float:
    """Return the number by which LocalQueues are ordered, ascending.

    Sum over resources of weight * (consumed + penalty), divided by the weight of the LocalQueue;
    infinite for a weight of 0. A resource without a weight counts once.
    """
    if queue_weight <= 0:
        return inf
    names = dict.fromkeys((*sorted(history), *sorted(ahead)))
    total = sum(
        weights.get(name, 1.0) * (history.get(name, 0.0) + ahead.get(name, 0.0)) for name in names
    )
    return total / queue_weight
