"""The outlook of workloads in words and ranges."""

from collections.abc import Collection
from math import inf

from queueing.core.names import Key
from queueing.explain.model import Estimate, Range
from queueing.sim.forecast.guesses import Basis
from queueing.sim.forecast.outlook import DRAWS, DRAWS_WIDE, Enough, Outlook, World, never, outlook
from queueing.sim.spans import span
from queueing.translate.times import timestamp

HALF, NEARLY_ALL = 0.5, 0.9
TOLD = {
    Basis.HISTORY: "drawn from how long workloads like it ran",
    Basis.LIMIT: "drawn from a maximum execution time",
    Basis.NOTHING: "unknown, without an end: no history, and no maximum execution time",
}
"""How run times were drawn: `12 run times ...`."""


def estimate(world: World, key: Key, *, enough: Enough = never, draws: int = DRAWS) -> Estimate:
    """Say when a waiting workload will be admitted; `enough` ends the search."""
    return estimates(world, (key,), enough=enough, draws=draws)[key]


def estimates(
    world: World, keys: Collection[Key], *, enough: Enough = never, draws: int = DRAWS
) -> dict[Key, Estimate]:
    """Say the same of several workloads, in the same futures."""
    found = outlook(world, keys, draws=draws, enough=enough)
    return {key: _told(found, key, world.now) for key in keys}


def _told(found: Outlook, key: Key, now: float) -> Estimate:
    as_of = timestamp(now)
    if not found.is_known:
        told = "Unknown: too much is ahead of it to look at in the time that there is."
        return Estimate(known=False, text=told, as_of=as_of, futures=found.draws)
    prospect, basis = found.prospects[key], _basis(found)
    half = prospect.range(HALF)
    if half[0] == inf:
        told = "Unknown: it is admitted in too few of the futures that were looked at."
        return Estimate(known=False, text=told, as_of=as_of, basis=basis, futures=found.draws)
    told, nearly_all = f"Likely {_spelled(half, now)}", None
    if found.draws >= DRAWS_WIDE:
        wide = prospect.range(NEARLY_ALL)
        told += f"; nearly surely {_spelled(wide, now)}"
        nearly_all = _range(wide, now)
    return Estimate(
        known=True,
        text=f"{told}.",
        as_of=as_of,
        half=_range(half, now),
        nearly_all=nearly_all,
        basis=basis,
        futures=found.draws,
    )


def _basis(found: Outlook) -> tuple[str, ...]:
    counted = ((one, found.used.get(one, 0)) for one in TOLD)
    return tuple(
        f"{count} run time{'s' if count > 1 else ''} {TOLD[one]}" for one, count in counted if count
    )


def _range(found: tuple[float, float], now: float) -> Range:
    first, last = found
    return Range(
        earliest=timestamp(now + first), latest=None if last == inf else timestamp(now + last)
    )


def _spelled(found: tuple[float, float], now: float) -> str:
    told = _range(found, now)
    if told.latest is None:
        return f"not before {told.earliest} (in {span(found[0])}), until when is not known"
    between = f"{told.earliest} to {told.latest}"
    return f"{between} (in {span(found[0])} to {span(found[1])})"
