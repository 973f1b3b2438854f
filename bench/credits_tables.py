"""Tables of what the stories of `bench.credits` came to, and the bars that Balanced is held to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import Any

from bench.bursts import DUTIES
from bench.credits_ways import ASKED, MODES, PLAIN, Numbers
from queueing.core.credits.facts import CreditMode

RAREST = min(DUTIES)

Outcomes = Mapping[tuple[str, str], Sequence[Numbers]]
"""By who simulated and mode; one entry per seed."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What Balanced is held to, beside plain fair sharing with the same demands."""

    what: str
    value: Callable[[Numbers, Numbers], float]
    bound: float
    at_least: bool
    of_means: bool = False
    """Whether the mean over the draws is taken of what is divided, and not of the quotients."""

    def holds(self, value: float) -> bool:
        """Say whether a value is on the right side of the bound."""
        return value >= self.bound if self.at_least else value <= self.bound


def _times_plain(name: str) -> Callable[[Numbers, Numbers], float]:
    return lambda one, plain: one[name] / (plain[name] or 1.0)


BARS = (
    Bar("worst / best satisfaction", lambda one, _: one["worst / best"], 0.55, at_least=True),
    Bar(
        "utilisation, times that of plain fair sharing",
        lambda one, plain: one["utilisation"] / plain["utilisation"],
        0.995,
        at_least=True,
    ),
    Bar(
        "churn, times that of plain fair sharing",
        lambda one, plain: one["churn"] / plain["churn"],
        1.0,
        at_least=False,
    ),
    Bar(
        "part that a hoarder loses",
        lambda one, _: 1 - one["hoarder"] / (one["hoarder when honest"] or 1.0),
        0.3,
        at_least=True,
    ),
    Bar(
        "wait of the rarest, times that under plain fair sharing",
        _times_plain("wait 0.125"),
        0.6,
        at_least=False,
    ),
)
RANDOM_BARS = (
    Bar(
        "chosen draws: mean wait of the rarest, by the mean wait under plain fair sharing",
        _times_plain("sketch: wait 0.125"),
        0.6,
        at_least=False,
        of_means=True,
    ),
    Bar(
        "the same draws: mean of the three quotients",
        _times_plain("sketch: wait 0.125"),
        0.6,
        at_least=False,
    ),
)
ROWS = (
    ("satisfied, busy always", "satisfied 1"),
    ("satisfied, busy half of the time", "satisfied 0.5"),
    ("satisfied, busy a quarter", "satisfied 0.25"),
    ("satisfied, busy an eighth", "satisfied 0.125"),
    ("worst / best of these", "worst / best"),
    ("utilisation", "utilisation"),
    ("churn: capacity that changes hands, per slot", "churn"),
    ("capacity preempted, per slot", "preempted"),
    ("satisfied, a quarter, the one that will hoard", "hoarder when honest"),
    ("satisfied, the same one hoarding", "hoarder"),
    ("mean wait, busy always, slots", "wait 1"),
    ("mean wait, busy half of the time", "wait 0.5"),
    ("mean wait, busy a quarter", "wait 0.25"),
    ("mean wait, busy an eighth", "wait 0.125"),
    ("Jobs of 1 to 8 slots: worst / best", "long: worst / best"),
    ("Jobs of 1 to 8 slots: utilisation", "long: utilisation"),
    ("Jobs of 1 to 8 slots: churn", "long: churn"),
    ("Jobs of 1 to 8 slots: capacity preempted, per slot", "long: preempted"),
)
RANDOM_ROWS = (
    ("mean wait, busy always, slots", "sketch: wait 1"),
    ("mean wait, busy half of the time", "sketch: wait 0.5"),
    ("mean wait, busy a quarter", "sketch: wait 0.25"),
    ("mean wait, busy an eighth", "sketch: wait 0.125"),
)


def table(
    outcomes: Outcomes, rows: Sequence[tuple[str, str]] = ROWS, modes: Sequence[CreditMode] = MODES
) -> str:
    """Lay out what was measured: the mean, and the spread over seeds."""
    names = ["plain" if mode is PLAIN else str(mode) for mode in modes]
    lines = ["| engine | " + " | ".join(names) + " | model, plain | model, Balanced |"]
    lines += ["|---" * (len(modes) + 3) + "|"]
    columns = [("engine", mode) for mode in modes] + [("model", PLAIN), ("model", ASKED)]
    for title, name in rows:
        cells = []
        for who, mode in columns:
            values = [one[name] for one in outcomes.get((who, str(mode)), ()) if name in one]
            cells.append(_spread(values) if values else "")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdicts(bars: Sequence[Bar], outcomes: Outcomes) -> str:
    """Lay out what Balanced is held to, and whether it holds."""
    lines = ["| Balanced | asked | engine | | model |", "|---|---|---|---|---|"]
    for bar in bars:
        values, ideal = (_values(bar, outcomes, who) for who in ("engine", "model"))
        asked = f"{'at least' if bar.at_least else 'at most'} {bar.bound:g}"
        lines.append(
            f"| {bar.what} | {asked} | {_spread(values)} | {_verdict(bar, fmean(values))} "
            f"| {_spread(ideal)} |"
        )
    return "\n".join(lines)


def unchosen(row: Mapping[str, Any]) -> str:
    """Lay out both statistics of all draws beside those that were chosen; the model alone ran."""
    plain, asked = _by_duty(row["plain"]), _by_duty(row["asked"])
    quotient, number = asked[RAREST] / plain[RAREST], row["number"]
    bound = RANDOM_BARS[0]
    lines = (
        (f"{number} draws, not chosen: by the mean wait", quotient),
        (f"the same {number} draws: mean of the quotients", row["ratio"]),
    )
    return "\n".join(
        f"| {what} | at most {bound.bound:g} |  | {_verdict(bound, value)} | {value:.3f} |"
        for what, value in lines
    )


def table_of_draws(rows: Sequence[Mapping[str, Any]]) -> str:
    """Lay out how long the rarest wait, by what they asked for."""
    lines = ["| the rarest asked for | draws | plain | Balanced | ratio | busy always, Balanced |"]
    lines += ["|---|---|---|---|---|---|"]
    for one in rows:
        plain, asked = (_by_duty(one[column]) for column in ("plain", "asked"))
        low, high = one["at_least"], one["below"]
        asked_for = f"{low:g} to {high:g}" if high < inf else f"more than {low:g}"
        lines.append(
            f"| {asked_for if low or high < inf else 'all draws'} | {one['number']} "
            f"| {plain[RAREST]:.1f} | {asked[RAREST]:.1f} | {asked[RAREST] / plain[RAREST]:.2f} "
            f"| {asked[max(DUTIES)]:.1f} |"
        )
    return "\n".join(lines)


def _by_duty(row: Mapping[str, float]) -> dict[float, float]:
    """Undo that JSON makes text of keys."""
    return {float(duty): value for duty, value in row.items()}


def _values(bar: Bar, outcomes: Outcomes, who: str) -> list[float]:
    """Return what a bar says of each draw that was simulated far enough, or of their means."""
    pairs = list(zip(outcomes[who, str(ASKED)], outcomes[who, str(PLAIN)], strict=True))
    if bar.of_means:
        pairs = [(_means([one for one, _ in pairs]), _means([plain for _, plain in pairs]))]
    found = []
    for one, plain in pairs:
        with suppress(KeyError):
            found.append(bar.value(one, plain))
    return found


def _means(rows: Sequence[Numbers]) -> dict[str, float]:
    return {name: fmean(one[name] for one in rows) for name in rows[0]}


def _verdict(bar: Bar, value: float) -> str:
    by = abs(value - bar.bound)
    return f"held, by {by:.3g}" if bar.holds(value) else f"**missed**, by {by:.3g}"


def _spread(values: Sequence[float]) -> str:
    """Write a mean, and between which values it lies."""
    mean, low, high = fmean(values), min(values), max(values)
    digits = 1 if high >= 10 else 3
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
