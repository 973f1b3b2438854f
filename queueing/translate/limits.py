"""LimitRanges of a namespace in one summary: defaults for containers, bounds for both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.translate.problems import Problems
from queueing.translate.wire.cluster import LimitRange
from queueing.translate.wire.meta import Resources
from queueing_api.quantity import amount

Amounts = Mapping[str, int]


FORBIDDEN = "resources didn't satisfy LimitRange constraints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of one type, in decision units."""

    max: Amounts = field(default_factory=dict)
    min: Amounts = field(default_factory=dict)
    default: Amounts = field(default_factory=dict)
    default_request: Amounts = field(default_factory=dict)

    def judge(self, least: Amounts, most: Amounts, path: str, problems: Problems) -> None:
        """Note every amount that the bounds forbid, between the least and the most of each."""
        if not (self.max or self.min):
            return
        above = [name for name in most if name in self.max and most[name] > self.max[name]]
        problems.add_values(FORBIDDEN, path, above, "requests must not be above the limitRange max")
        below = [name for name in most if name in self.min and least[name] < self.min[name]]
        problems.add_values(FORBIDDEN, path, below, "requests must not be below the limitRange min")


NO_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSummary:
    """What the LimitRanges of one namespace say together."""

    container: Bounds = NO_BOUNDS
    pod: Bounds = NO_BOUNDS


NO_LIMITS = LimitSummary()


def summarize(ranges: Iterable[LimitRange]) -> LimitSummary:
    """Combine LimitRanges, in order of name: tightest bounds, first default."""
    found: dict[str, Bounds] = {}
    for one in sorted(ranges, key=lambda limit_range: limit_range.metadata.name):
        for item in one.spec.limits:
            before = found.get(item.type, NO_BOUNDS)
            tops, bottoms = _amounts(item.max), _amounts(item.min)
            found[item.type] = Bounds(
                max={
                    name: min(before.max.get(name, top), top)
                    for name, top in {**before.max, **tops}.items()
                },
                min={
                    name: max(before.min.get(name, bottom), bottom)
                    for name, bottom in {**before.min, **bottoms}.items()
                },
                default={**_amounts(item.default), **before.default},
                default_request={**_amounts(item.default_request), **before.default_request},
            )
    return LimitSummary(
        container=found.get("Container", NO_BOUNDS), pod=found.get("Pod", NO_BOUNDS)
    )


def _amounts(resources: Resources) -> dict[str, int]:
    return {name: amount(name, quantity) for name, quantity in resources.items()}
