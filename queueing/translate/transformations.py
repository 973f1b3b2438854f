"""The Configuration's rules for Workloads: excluded and transformed resources, and switches."""

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
    """Resources that do not count, those that count as others, and what else is switched off."""

    excluded_prefixes: tuple[str, ...] = ()
    transformations: Mapping[str, Transformation] = field(default_factory=dict)
    boosts_priority: bool = False
    """Whether the annotation that adds to a Workload's priority counts."""
    counts_reclaimable: bool = True
    """Whether pods that are needed no more give their quota back."""
    heeds_gates: bool = True
    """Whether a Workload waits for the admission gates of its annotation."""
    places_pods: bool = True
    """Whether a topology means anything, of flavors and of pods that ask for one."""
    confines_flavors: bool = False
    """Whether the annotation of allowed flavors counts, also of Workloads that are no variants."""
    slices_jobs: bool = True
    """Whether an elastic job has slices, of which only the difference is charged."""

    def apply(self, requests: Mapping[str, int]) -> dict[str, int]:
        """Return one pod's requests as quota counts them.

        `outputs[o] += units(input) * factor[o] * units(multiplyBy)`, where a resource to multiply
        by that is not asked for counts as one. Sums are exact; they are rounded up in the end, and
        those below 0 count as 0. Inputs count in whole units, rounded up, as Kueue's do.
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
                sums[name] = sums.get(name, 0) + kept[name] * _nano(name)
            if row is not None:
                times = _units(name, kept[name])
                if row.multiply_by in kept:
                    times *= _units(row.multiply_by, kept[row.multiply_by])
                for output in sorted(row.outputs):
                    gained = parse(row.outputs[output]).nano * times
                    sums[output] = sums.get(output, 0) + gained
        return {name: max(-(-nano // _nano(name)), 0) for name, nano in sums.items()}


NO_RULES = ResourceRules()


def _units(resource: str, value: int) -> int:
    return -(-value // _MILLI_PER_UNIT) if resource == "cpu" else value


def _nano(resource: str) -> int:
    """Return how many billionths of a whole unit one of ours is: cpu counts in thousandths."""
    return NANO_PER_MILLI if resource == "cpu" else NANO_PER_UNIT
