"""The numbers of scenario (i): what the events of a run say, and how the modes compare."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bench import history, load
from bench.results import Result

NAME = "i"
OURS, KUEUE = "Queueing", "Kueue"
AIMS: Mapping[str, str] = MappingProxyType(
    {
        "seconds": "quotient at most 1",
        "evictions": "quotient at most 0.5",
        "CPU of queueing, s": "quotient at most 1",
        **{
            f"wait of {size.name} until first admitted, mean s": "quotient at most 1.05"
            for size in load.LOADS[NAME].sizes
        },
    }
)
"""Of the default mode, as a part of Kueue mode's in the same run."""
AIMS_ALONE = MappingProxyType(
    {
        "avoidable, % of evictions": "at most 5",
        "avoidable by what was known, % of evictions": "at most 5",
        "evictions of one workload, most": "at most 3",
    }
)
SAME = frozenset({"workloads", "floor, seconds", "bound by quota and arrival, seconds"})
"""What does not depend on the mode."""


def report(
    wanted: load.Load, items: Sequence[load.Item], events: Sequence[history.Event]
) -> dict[str, float]:
    """Return what the events of a run say."""
    told = history.evictions(events)
    stops = [one for one in told if not one.late]
    avoidable = [one for one in stops if one.avoidable]
    known = sum(one.known for one in stops)
    by_name = {item.name: item for item in items}
    # One that has run for its time only waits for its end to be written: no more of it is lost.
    lost = [(item, min(one.ran_s, item.runs_s)) for one in stops for item in [by_name[one.victim]]]
    seconds = events[-1].at
    quota = history.quota(wanted, items, events)
    whole = wanted.queues * wanted.nominal * seconds
    return {
        "workloads": len(items),
        "seconds": seconds,
        "evictions": len(stops),
        **{
            f"evictions of {size.name}": sum(
                one.victim.startswith(f"{size.name}-") for one in stops
            )
            for size in wanted.sizes
        },
        "evictions of one workload, most": max(
            Counter(one.victim for one in stops).values(), default=0
        ),
        "evictions of what had finished": len(told) - len(stops),
        "avoidable evictions": len(avoidable),
        "avoidable by a second or more": sum((one.ahead_s or 0.0) >= 1.0 for one in stops),
        "avoidable, % of evictions": 100 * len(avoidable) / max(1, len(stops)),
        "admissions of which it is not known when they were decided": sum(
            one.what is history.What.ADMITTED and one.decided is None for one in events
        ),
        "avoidable by what was known": known,
        "avoidable by what was known, % of evictions": 100 * known / max(1, len(stops)),
        "run time thrown away, s": sum(ran_s for _, ran_s in lost),
        "run time thrown away, CPU s": sum(ran_s * item.cpu for item, ran_s in lost),
        "quota idle though it was asked for, CPU s": quota.idle,
        "quota idle though it was asked for, %": 100 * quota.idle / whole,
        "quota held, %": 100 * quota.held / whole,
        **_waits(wanted, items, events),
    }


def _waits(
    wanted: load.Load, items: Sequence[load.Item], events: Sequence[history.Event]
) -> dict[str, float]:
    """Return mean and longest time to admission, for each class."""
    found = history.waits(events)
    told: dict[str, float] = {}
    for which, by_name in (("first", found.first), ("last", found.last)):
        for size in reversed(wanted.sizes):
            waited = [by_name[one.name] for one in items if one.size == size.name]
            what = f"wait of {size.name} until {which} admitted"
            told[f"{what}, mean s"] = statistics.fmean(waited)
            told[f"{what}, longest s"] = max(waited)
    return told


def quotients(ours: Sequence[Result], kueues: Sequence[Result]) -> Result:
    """Return each number of our default as a part of Kueue mode's; of several turns the medians.

    Left out is what is 0 in Kueue mode.
    """
    numbers: dict[str, float] = {}
    for name in ours[0].numbers:
        mine, theirs = (
            statistics.median(one.numbers.get(name, 0.0) for one in side) for side in (ours, kueues)
        )
        if theirs and name not in SAME:
            numbers[name] = mine / theirs
    return Result(scenario=f"{NAME}, quotient", numbers=numbers, aims=dict(AIMS))
