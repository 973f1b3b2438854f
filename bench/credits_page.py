"""`credits`: what is told of the stories of `bench.credits`: numbers, a table, a picture.

`python -m bench.credits_page` runs them all and writes the table into docs/credits.md.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

import click

from bench import credits as engine
from bench import credits_model
from bench.bursts import CAPACITY, DUTIES, HOARDER, Tenant, by_class
from bench.credits import Story
from bench.results import Result
from queueing.core.credits.facts import Mode

SLOTS, SEEDS = 1200, 3
"""Three whole cycles of the rarest tenants, so that all ask for as much as each other."""
LONG = (1, 2, 4, 8)
MODES = (Mode.OFF, Mode.GENTLE, Mode.BALANCED, Mode.KARMA)
PLAIN, ASKED = Mode.OFF, Mode.BALANCED
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

Numbers = Mapping[str, float]
Outcomes = Mapping[tuple[str, str], Sequence[Numbers]]
"""By who simulated and mode; one entry per seed."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What Balanced is held to, beside plain fair sharing with the same demands."""

    what: str
    value: Callable[[Numbers, Numbers], float]
    bound: float
    at_least: bool

    def holds(self, value: float) -> bool:
        """Say whether a value is on the right side of the bound."""
        return value >= self.bound if self.at_least else value <= self.bound


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
    Bar("part that a hoarder loses", lambda one, _: 1 - one["hoarder"], 0.3, at_least=True),
    Bar(
        "wait of the burstiest, times that under plain fair sharing",
        lambda one, plain: one["wait 0.125"] / (plain["wait 0.125"] or 1.0),
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
    ("useful service of a hoarder, of what it gets when honest", "hoarder"),
    ("mean wait, busy always, slots", "wait 1"),
    ("mean wait, busy half of the time", "wait 0.5"),
    ("mean wait, busy a quarter", "wait 0.25"),
    ("mean wait, busy an eighth", "wait 0.125"),
    ("Jobs of 1 to 8 slots: worst / best", "long: worst / best"),
    ("Jobs of 1 to 8 slots: utilisation", "long: utilisation"),
    ("Jobs of 1 to 8 slots: churn", "long: churn"),
    ("Jobs of 1 to 8 slots: capacity preempted, per slot", "long: preempted"),
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


def measure(story: Story, *, by_model: bool = False) -> dict[str, float]:
    """Run a story in each of its ways; return what is to be told."""
    simulate = credits_model.simulate if by_model else engine.simulate
    lost = simulate(story)
    waiting = simulate(replace(story, waits=True))
    hoarding = simulate(replace(story, hoards=True))
    numbers = _served(lost, story)
    numbers["hoarder"] = hoarding[HOARDER].used / (lost[HOARDER].used or 1.0)
    waits = by_class(waiting, lambda one: one.waited, lambda one: one.served)
    numbers |= {f"wait {duty:g}": value for duty, value in waits.items()}
    if not by_model and story.mode in (PLAIN, ASKED):
        long = _served(simulate(replace(story, lasts=LONG)), story)
        numbers |= {f"long: {name}": value for name, value in long.items()}
    return numbers


def _served(known: Sequence[Tenant], story: Story) -> dict[str, float]:
    satisfied = by_class(known, lambda one: one.used, lambda one: one.asked)
    whole = story.slots * CAPACITY
    return {f"satisfied {duty:g}": value for duty, value in satisfied.items()} | {
        "worst / best": min(satisfied.values()) / max(satisfied.values()),
        "utilisation": sum(one.used_up for one in known) / whole,
        "churn": sum(one.moved for one in known) / whole,
        "preempted": sum(one.stopped for one in known) / whole,
    }


@click.command()
@click.option("--slots", default=SLOTS, show_default=True)
@click.option("--seeds", default=SEEDS, show_default=True, help="How many draws of demands.")
@click.option("--processes", type=int, help="How many simulate at once. Unset: one per CPU.")
@click.option("--raw", type=click.Path(path_type=Path), default=Path("bench-results/credits.json"))
@click.option("--again", is_flag=True, help="Write the page from the raw numbers of the last run.")
@click.option("--page", type=click.Path(path_type=Path), default=Path("docs/credits.md"))
def main(
    slots: int, seeds: int, processes: int | None, raw: Path, page: Path, *, again: bool
) -> None:
    """Simulate all modes on engine and model, and write table and picture of docs/credits.md."""
    if not again:
        raw.parent.mkdir(parents=True, exist_ok=True)
        raw.write_text(json.dumps(_all(slots, range(1, seeds + 1), processes), indent=1) + "\n")
    known = json.loads(raw.read_text()).items()
    outcomes = {(key.partition("/")[0], key.partition("/")[2]): value for key, value in known}
    text = page.read_text()
    measured = f"{BEGIN}\n{table(outcomes)}\n{END}"
    page.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: measured, text, flags=re.DOTALL))
    plot(outcomes, page.parent / "pictures" / "credits.png")


def _all(
    slots: int, seeds: Iterable[int], processes: int | None
) -> dict[str, list[dict[str, float]]]:
    stories = [Story(mode=mode, slots=slots, seed=seed) for mode in MODES for seed in seeds]
    found: dict[str, list[dict[str, float]]] = {}
    with ProcessPoolExecutor(processes) as pool:
        for who, by_model in (("model", True), ("engine", False)):
            measured = pool.map(partial(measure, by_model=by_model), stories)
            for story, numbers in zip(stories, measured, strict=True):
                found.setdefault(f"{who}/{story.mode}", []).append(numbers)
                click.echo(f"{who} {story.mode} seed {story.seed}")
    return found


def table(outcomes: Outcomes) -> str:
    """Lay out what was measured, and what it is held to: the mean, and the spread over seeds."""
    lines = ["| engine | plain | Gentle | Balanced | Karma | model, plain | model, Balanced |"]
    lines += ["|---|---|---|---|---|---|---|"]
    columns = [("engine", mode) for mode in MODES] + [("model", PLAIN), ("model", ASKED)]
    for title, name in ROWS:
        cells = []
        for who, mode in columns:
            values = [one[name] for one in outcomes[who, str(mode)] if name in one]
            cells.append(_spread(values) if values else "")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += ["", "| Balanced | asked | engine | | model |", "|---|---|---|---|---|"]
    for bar in BARS:
        values, ideal = (
            [
                bar.value(one, plain)
                for one, plain in zip(
                    outcomes[who, str(ASKED)], outcomes[who, str(PLAIN)], strict=True
                )
            ]
            for who in ("engine", "model")
        )
        asked = f"{'at least' if bar.at_least else 'at most'} {bar.bound:g}"
        lines.append(
            f"| {bar.what} | {asked} | {_spread(values)} | {_verdict(bar, fmean(values))} "
            f"| {_spread(ideal)} |"
        )
    return "\n".join(lines)


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
            seen = [[one[f"{what} {d:g}"] for one in outcomes["engine", str(mode)]] for d in duties]
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
