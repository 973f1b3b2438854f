"""`credits`: what is told of the stories of `bench.credits`: numbers, a table, a picture.

`python -m bench.credits_page` runs them all and writes the table into docs/credits-simulated.md.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import click

from bench.credits import Story
from bench.credits_picture import plot
from bench.credits_tables import (
    BARS,
    RANDOM_BARS,
    RANDOM_ROWS,
    table,
    table_of_draws,
    unchosen,
    verdicts,
)
from bench.credits_ways import ASKED, MODES, MODES_OF, PLAIN, RANDOM, REGULAR, by_part, told
from bench.results import Result
from queueing.core.credits.facts import CreditMode

SLOTS, SEEDS, DRAWS = 1200, 3, 100
"""Three whole cycles of the rarest tenants, so that all ask for as much as each other."""
IN_ORDER = (CreditMode.OFF, CreditMode.BALANCED, CreditMode.KARMA, CreditMode.GENTLE)
PAGE = Path("docs/credits-simulated.md")

Task = tuple[str, str, Story]
"""Who simulates, which way, and what."""


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
    """Simulate all modes on engine and model, and write tables and picture of the page."""
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
        bars = f"{verdicts(RANDOM_BARS, outcomes)}\n{unchosen(known['draws'][-1])}"
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


if __name__ == "__main__":
    main()
