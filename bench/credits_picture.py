"""The picture of what the stories of `bench.credits` came to."""

from pathlib import Path
from statistics import fmean

from bench.bursts import DUTIES
from bench.credits_tables import Outcomes
from bench.credits_ways import MODES, PLAIN


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
