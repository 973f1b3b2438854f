"""`credits`: what is told of the stories of `bench.credits`: numbers, a table, a picture.

`python -m bench.credits_page` runs them all and writes the table into docs/credits.md.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from bench.bursts import DUTIES
from bench.credits import Story
from bench.credits_ways import (
    ASKED,
    MODES,
    MODES_OF,
    PLAIN,
    RANDOM,
    REGULAR,
    Numbers,
    by_part,
    told,
)
from bench.results import Result
from queueing.core.credits.facts import Mode

SLOTS, SEEDS, DRAWS = 1200, 3, 100
"""Three whole cycles of the rarest tenants, so that all ask for as much as each other."""
IN_ORDER = (Mode.OFF, Mode.BALANCED, Mode.KARMA, Mode.GENTLE)
PAGE = Path("docs/credits.md")
RAREST = min(DUTIES)

Task = tuple[str, str, Story]
"""Who simulates, which way, and what."""

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


def run(scale: float, out: Path) -> list[Result]:
    """Simulate every mode with one seed; a `scale` of 1 is the size of the page."""
    slots = max(200, round(SLOTS * scale))
    results = [
        Result(scenario=f"credits, {mode}", numbers=measure(Story(mode=mode, slots=slots)))
        for mode in MODES
    ]
    names = zip(MODES, results, strict=True)
    plot({("engine", str(mode)): [one.numbers] for mode, one in names}, out / "credits.png")
    return results


def measure(story: Story) -> dict[str, float]:
    """Run a story in each of its ways on the engine; return what is to be told."""
    numbers: dict[str, float] = {}
    for way in REGULAR:
        if story.mode in MODES_OF[way]:
            numbers |= told("engine", way, story)
    return numbers


@click.command()
@click.option("--slots", default=SLOTS, show_default=True)
@click.option("--processes", default=1, show_default=True, help="How many simulate at once.")
@click.option("--raw", type=click.Path(path_type=Path), default=Path("bench-results/credits.json"))
@click.option(
    "--only", type=click.Choice(["regular", "random"]), help="Leave the other bursts out."
)
@click.option("--again", is_flag=True, help="Write the page from the raw numbers of the last run.")
def main(slots: int, processes: int, raw: Path, only: str | None, *, again: bool) -> None:
    """Simulate all modes on engine and model, and write tables and picture of docs/credits.md."""
    ways = {"regular": REGULAR, "random": RANDOM, None: (*REGULAR, *RANDOM)}[only]
    if not again:
        raw.parent.mkdir(parents=True, exist_ok=True)
        random = RANDOM[0] in ways
        parts = [asdict(one) for one in by_part(slots, DRAWS)] if random else []
        for measured in _all(slots, processes, ways):
            raw.write_text(json.dumps({"measured": measured, "draws": parts}, indent=1) + "\n")
    known = json.loads(raw.read_text())
    outcomes = {
        (who, mode): rows
        for name, rows in known["measured"].items()
        for who, _, mode in [name.partition("/")]
    }
    blocks = {}
    if only != "random":
        blocks["measured"] = f"{table(outcomes)}\n\n{verdicts(BARS, outcomes)}"
        plot(outcomes, PAGE.parent / "pictures" / "credits.png")
    if only != "regular":
        random_rows = table(outcomes, RANDOM_ROWS, (PLAIN, ASKED))
        bars = f"{verdicts(RANDOM_BARS, outcomes)}\n{_unchosen(known['draws'][-1])}"
        blocks["random"] = f"{random_rows}\n\n{bars}"
        blocks["draws"] = table_of_draws(known["draws"])
    _write(blocks)


def _write(blocks: Mapping[str, str]) -> None:
    """Put each block into its place in the page."""
    text = PAGE.read_text()
    for name, content in blocks.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        text = re.sub(
            f"{begin}.*{end}", partial(_between, begin, content, end), text, flags=re.DOTALL
        )
    PAGE.write_text(text)


def _between(begin: str, content: str, end: str, _: re.Match[str]) -> str:
    return f"{begin}\n{content}\n{end}"


def _all(
    slots: int, processes: int, ways: Sequence[str]
) -> Iterator[dict[str, list[dict[str, float]]]]:
    """Simulate everything, that which bars are about first; give all that is known so far."""
    seeds = range(1, SEEDS + 1)
    stories = [Story(mode=mode, slots=slots, seed=seed) for mode in IN_ORDER for seed in seeds]
    tasks: list[Task] = [
        ("model", way, one)
        for one in stories
        for way in ways
        if way != "long" and one.mode in (PLAIN, ASKED)
    ]
    tasks += [("engine", way, one) for one in stories for way in ways if one.mode in MODES_OF[way]]
    tasks.sort(key=_is_an_extra)
    found: dict[str, list[dict[str, float]]] = {}
    with Pool(processes) as pool:
        for number, ((who, way, story), numbers) in enumerate(pool.imap(_told, tasks), 1):
            rows = found.setdefault(f"{who}/{story.mode}", [{} for _ in seeds])
            rows[story.seed - 1] |= numbers
            click.echo(f"{number} of {len(tasks)}: {who}, {way}, {story.mode}, {story.seed}")
            yield found


def _is_an_extra(task: Task) -> bool:
    """Say whether no bar is about it and it takes long."""
    _, way, story = task
    return way == "hoards" and story.mode not in (PLAIN, ASKED)


def _told(task: Task) -> tuple[Task, dict[str, float]]:
    return task, told(*task)


def table(
    outcomes: Outcomes, rows: Sequence[tuple[str, str]] = ROWS, modes: Sequence[Mode] = MODES
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


def _unchosen(row: Mapping[str, Any]) -> str:
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


def plot(outcomes: Outcomes, path: Path) -> None:
    """Draw how well each class is served under each mode, and how long it waits."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, for the picture only

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of a backend

    path.parent.mkdir(parents=True, exist_ok=True)
    figure, panes = plt.subplots(1, 2, figsize=(11, 4.2))
    duties = list(dict.fromkeys(DUTIES))
    for axes, what, label in (
        (panes[0], "satisfied", "part of what was asked for that was served"),
        (panes[1], "wait", "mean wait in slots, where what is not served waits"),
    ):
        for place, mode in enumerate(MODES):
            rows = outcomes.get(("engine", str(mode)), ())
            seen = [
                [one[f"{what} {d:g}"] for one in rows if f"{what} {d:g}" in one] for d in duties
            ]
            if not all(seen):
                continue
            means = [fmean(one) for one in seen]
            spread = [
                [mean - min(one) for mean, one in zip(means, seen, strict=True)],
                [max(one) - mean for mean, one in zip(means, seen, strict=True)],
            ]
            left = [number + (place - 1.5) * 0.2 for number in range(len(duties))]
            name = "plain fair sharing" if mode is PLAIN else str(mode)
            axes.bar(left, means, width=0.18, label=name, yerr=spread, capsize=2)
        axes.set_xticks(range(len(duties)), [f"busy {duty:.3g}" for duty in duties])
        axes.set_ylabel(label)
        axes.grid(alpha=0.3, axis="y")
    panes[0].legend()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    main()
