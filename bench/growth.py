"""What a decision costs as more workloads are pending: it must not cost more."""

from collections.abc import Sequence
from pathlib import Path

from bench import core_alone
from bench.results import Result
from queueing.core.settings import Settings
from queueing.testing.worlds import Deep

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
"""Pending at the start, in 1,000 queues of 10 cohorts."""
PER_DECISION = "CPU us per decision"


def measure(modes: Sequence[tuple[str, Settings]], most: int) -> list[Result]:
    """Run each size up to `most`, in each mode, to its end."""
    found = []
    for mode, settings in modes:
        for size in [one for one in SIZES if one <= most]:
            each = max(1, size // 1_000)
            world = Deep(queues=size // each, each=each, queues_per_cohort=core_alone.COHORTS_OF)
            one = core_alone.run(world, settings, name=f"e, {size} pending, {mode}")
            cost = 1e6 / one.numbers["decisions per CPU second"]
            found.append(Result(scenario=one.scenario, numbers={**one.numbers, PER_DECISION: cost}))
    return found


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw the cost per decision over the number pending, one line per mode."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, for the picture only

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of a backend

    figure, axes = plt.subplots(figsize=(8, 4.5))
    for mode in dict.fromkeys(one.scenario.rpartition(", ")[2] for one in results):
        mine = [one for one in results if one.scenario.endswith(mode)]
        pending = [one.numbers["pending at the start"] for one in mine]
        axes.plot(pending, [one.numbers[PER_DECISION] for one in mine], marker="o", label=mode)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("pending at the start, in 1,000 queues")
    axes.set_ylabel(PER_DECISION)
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
