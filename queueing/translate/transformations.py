"""What the Configuration's `resources` section makes of a pod's requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from queueing.translate.wire.meta import Quantity
from queueing_api.quantity import NANO_PER_MILLI, NANO_PER_UNIT, parse

_MILLI_PER_UNIT = 1000


class TransformationStrategy(StrEnum):
    """Whether the input stays beside the outputs."""

    RETAIN = "Retain"
    REPLACE = "Replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """One row of `resources.transformations`: `outputs` per unit of the input."""

    outputs: Mapping[str, Quantity]
    strategy: TransformationStrategy = TransformationStrategy.RETAIN
    multiply_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRules:
    """Resources that do not count, and those that count as others."""

    excluded_prefixes: tuple[str, ...] = ()
    transformations: Mapping[str, Transformation] = field(default_factory=dict)

    def apply(self, requests: Mapping[str, int]) -> dict[str, int]:
        """Return one pod's requests as quota counts them.

        `outputs[o] += units(input) * factor[o] * units(multiplyBy)`; sums below 0 count as 0.
        Inputs count in whole units, rounded up, as Kueue's do.
        """
        kept = {
            name: value
            for name, value in requests.items()
            if not name.startswith(self.excluded_prefixes or ("\0",))
        }
        if not any(name in self.transformations for name in kept):
            return kept
        sums: dict[str, int] = {}
        for name in sorted(kept):
            row = self.transformations.get(name)
            if row is None or row.strategy is TransformationStrategy.RETAIN:
                sums[name] = sums.get(name, 0) + kept[name]
            if row is not None:
                times = _units(name, kept[name])
                if row.multiply_by:
                    times *= _units(row.multiply_by, kept.get(row.multiply_by, 0))
                for output in sorted(row.outputs):
                    gained = _times(output, row.outputs[output], times)
                    sums[output] = sums.get(output, 0) + gained
        return {name: max(value, 0) for name, value in sums.items()}


NO_RULES = ResourceRules()


def _units(resource: str, value: int) -> int:
    return -(-value // _MILLI_PER_UNIT) if resource == "cpu" else value


def _times(resource: str, factor: Quantity, times: int) -> int:
    """Multiply before rounding, so that many small factors do not add up to too much."""
    nano = parse(factor).nano * times
    unit = NANO_PER_MILLI if resource == "cpu" else NANO_PER_UNIT
    return -(-nano // unit) if nano % unit else nano // unit
