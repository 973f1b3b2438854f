"""What came of a run, as numbers, and how they are shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from bench.virtual.controller import Effort
from bench.virtual.tally import Past, Tally
from bench.virtual.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The numbers of one run, and of each class of workloads in it."""

    load: str
    mode: str
    seed: int
    numbers: Mapping[str, float]
    classes: Mapping[str, Mapping[str, float]]


def report(trial: Trial, tally: Tally, effort: Effort, *, cores_s: float) -> Report:
    """Sum up a run."""
    now = tally.time.now
    pasts = tally.pasts.values()
    wall_s = max((one.ended for one in pasts if one.ended is not None), default=now)
    if tally.left:
        wall_s = now
    stored, assumed = tally.stored, tally.assumed
    for holdings in (stored, assumed):
        holdings.pass_time(now)
    return Report(
        load=trial.load,
        mode=trial.mode,
        seed=trial.seed,
        numbers={
            "evictions": tally.evictions,
            "most for one": max((one.evictions for one in pasts), default=0),
            "avoidable": tally.avoidable,
            "lost work, s": tally.lost_s,
            "wall, s": wall_s,
            "starved": tally.left,
            "over-admitted, cores": tally.excess,
            "idle, core s": stored.idle,
            "idle by decision, core s": assumed.idle,
            "held, %": 100 * stored.used / (stored.nominal * now),
            "cycles": effort.cycles,
            "judged": effort.judged,
            "refused": effort.refused,
            "CPU of the model, s": cores_s,
            "engine, real CPU s": effort.cpu_s,
            "longest cycle, real CPU ms": effort.longest_s * 1e3,
        },
        classes={
            name: _class(tally, [one for one in pasts if one.stream.name == name], now)
            for name in dict.fromkeys(one.name for one in tally.load.streams)
        },
    )


def _class(tally: Tally, pasts: Sequence[Past], now: float) -> dict[str, float]:
    """Sum up a class; who still waits has waited until now, and who never fits is left out."""
    able = [one for one in pasts if tally.stored.fits_ever(one.stream.queue, one.cpu)]
    first = [_or(one.first_admitted, now) - one.created for one in able]
    last = [_or(one.admitted if one.ended is not None else None, now) - one.created for one in able]
    return {
        "workloads": len(pasts),
        "evictions": sum(one.evictions for one in pasts),
        "mean wait, s": fmean(first or [0.0]),
        "longest wait, s": max(first, default=0.0),
        "mean wait for the last run, s": fmean(last or [0.0]),
        "longest wait for the last run, s": max(last, default=0.0),
        "starved": sum(one.ended is None for one in able),
    }


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


COLUMNS = (
    ("evictions", "evicted", 0),
    ("most for one", "most", 0),
    ("avoidable", "avoidable", 0),
    ("lost work, s", "lost s", 0),
    ("wall, s", "wall s", 1),
    ("starved", "starved", 0),
    ("over-admitted, cores", "too much", 0),
    ("idle, core s", "idle", 0),
    ("idle by decision, core s", "by decision", 0),
    ("held, %", "held %", 1),
    ("judged", "judged", 0),
    ("refused", "refused", 0),
    ("engine, real CPU s", "CPU s", 2),
)
"""Number, how its column is headed, and decimals."""
WAITS = (
    "mean wait, s",
    "longest wait, s",
    "mean wait for the last run, s",
    "longest wait for the last run, s",
)
WAITS_HEADED = "  waits, s: to the first run, mean and longest; to the last run, mean and longest"


def table(reports: Sequence[Report]) -> str:
    """Lay out the medians over seeds, one line for each load and mode; then waits by class."""
    lines = [f"{'load':<7}{'mode':<9}" + "".join(f"{head:>12}" for _, head, _ in COLUMNS)]
    groups = _groups(reports)
    for (load, mode), found in groups.items():
        cells = (
            f"{median(one.numbers[name] for one in found):>12,.{places}f}"
            for name, _, places in COLUMNS
        )
        lines.append(f"{load:<7}{mode:<9}" + "".join(cells))
    lines += ["", f"{'load':<7}{'mode':<9}{'class':<9}{'evicted':>9}{WAITS_HEADED}"]
    for (load, mode), found in groups.items():
        for name in found[0].classes:
            evicted = median(one.classes[name]["evictions"] for one in found)
            waits = (
                f"{median(one.classes[name][wait] for one in found):>12,.2f}" for wait in WAITS
            )
            lines.append(f"{load:<7}{mode:<9}{name:<9}{evicted:>9,.0f}" + "".join(waits))
    return "\n".join(lines)


def _groups(reports: Iterable[Report]) -> dict[tuple[str, str], list[Report]]:
    found: dict[tuple[str, str], list[Report]] = {}
    for one in reports:
        found.setdefault((one.load, one.mode), []).append(one)
    return found
