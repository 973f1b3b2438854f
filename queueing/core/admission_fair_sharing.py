"""The formulas of admission fair sharing (KEP-4136): usage histories of LocalQueues.

The LocalQueues of a ClusterQueue take turns by their histories. A history is an exponential average
of what is admitted, in whole units (cores, bytes). Each admission is charged in advance as an entry
penalty, so that one LocalQueue cannot take everything between two samples.
"""

from collections.abc import Mapping
from math import inf

from queueing.core.names import ResourceName
from queueing.core.settings import AdmissionFairSharing

Amounts = Mapping[ResourceName, float]
"""In whole units: cores, not milli-cores."""


def whole_units(resource: ResourceName, amount: int) -> float:
    """Convert an amount (cpu in milli-units, as everywhere else) to whole units."""
    return amount / 1000 if resource == "cpu" else float(amount)


def decay(elapsed_s: float, half_life_s: float) -> float:
    """Return the fraction of the history that `elapsed_s` seconds replace by present usage.

    alpha(t) = 1 - 0.5^(t / half-life). With a half-life of 0 it is 0.
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
    """Return the entry penalty of an admission, in grains: alpha(sampling interval) * requests.

    Requests are in the usual units (cpu in milli-units). Fractions of a grain are dropped.
    """
    alpha = decay(settings.sampling_interval_s, settings.half_life_s)
    grains = settings.grains
    return {
        name: int(float(amount * (grains // 1000 if name == "cpu" else grains)) * alpha)
        for name, amount in requests.items()
    }


def in_units(penalties: Mapping[ResourceName, int], settings: AdmissionFairSharing) -> Amounts:
    """Convert sums of penalties from grains to whole units."""
    return {name: grains / settings.grains for name, grains in penalties.items()}


def local_usage(
    history: Amounts, ahead: Amounts, *, weights: Amounts, queue_weight: float
) -> float:
    """Return the number by which LocalQueues are ordered, ascending.

    It is the sum over resources of weight * (history + penalty), divided by the weight of the
    LocalQueue; infinite for a weight of 0. Resources without a configured weight have weight 1.
    """
    if queue_weight <= 0:
        return inf
    names = dict.fromkeys((*sorted(history), *sorted(ahead)))
    total = sum(
        weights.get(name, 1.0) * (history.get(name, 0.0) + ahead.get(name, 0.0)) for name in names
    )
    return total / queue_weight
