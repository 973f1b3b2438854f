"""Numbers of one scenario, and how they are shown."""

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

TIMES = "times the longer of floor and bound"
"""What the aims of the scenarios on a control plane are about."""
ROUNDING = 1e-9
"""0.99 times 100 is a little more than 99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one scenario measured. `admissions` are seconds from its start, in order."""

    scenario: str
    numbers: Mapping[str, float]
    admissions: Sequence[float] = ()
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """More rows of admission times to plot beside, by name."""
    aims: Mapping[str, str] = field(default_factory=dict)
    """What some of the numbers should be, by name."""


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed (nearest rank); 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    rank = math.ceil(share * len(ordered) - ROUNDING)
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def table(results: Sequence[Result]) -> str:
    """Lay the numbers out, one line each, and what they should be."""
    width = max(len(name) for one in results for name in one.numbers)
    lines: list[str] = []
    for one in results:
        lines.append(one.scenario)
        for name, value in one.numbers.items():
            aim = f"  (aim: {one.aims[name]})" if name in one.aims else ""
            lines.append(f"  {name:<{width}}  {_spelled(value)}{aim}".rstrip())
    return "\n".join(lines)


def beside(results: Sequence[Result]) -> str:
    """Lay the numbers of results out in columns, which are headed by the parts of their names."""
    names = list(dict.fromkeys(name for one in results for name in one.numbers))
    heads = [one.scenario.split(", ")[1:] for one in results]
    width = max(map(len, names))
    lines = [results[0].scenario.partition(", ")[0]]
    for row in range(max(map(len, heads))):
        cells = (f"{head[row] if row < len(head) else '':>14}" for head in heads)
        lines.append(f"  {'':<{width}}  {''.join(cells)}".rstrip())
    for name in names:
        cells = (
            _spelled(one.numbers[name]) if name in one.numbers else " " * 14 for one in results
        )
        aims = sorted({one.aims[name] for one in results if name in one.aims})
        aim = f"  (aim: {', '.join(aims)})" if aims else ""
        lines.append(f"  {name:<{width}}  {''.join(cells)}{aim}".rstrip())
    return "\n".join(lines)


def _spelled(value: float) -> str:
    """Give counts without decimals, all with the point in one column."""
    return f"{value:>10,}    " if isinstance(value, int) else f"{value:>14,.3f}"


def machine() -> dict[str, object]:
    """Describe where it was measured, and how busy that was."""
    return {
        "cpus": os.cpu_count(),
        "load": [round(one, 2) for one in os.getloadavg()],
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def write(results: Sequence[Result], folder: Path) -> None:
    """Write results.json and one plot per scenario that has admissions."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "results": [asdict(one) for one in results]}
    (folder / "results.json").write_text(json.dumps(document, indent=2) + "\n")
    for one in results:
        if one.admissions:
            plot(one, folder / f"{one.scenario}.png")


def plot(result: Result, path: Path) -> None:
    """Draw admissions over time."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, for the picture only

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of a backend

    figure, axes = plt.subplots(figsize=(8, 4.5))
    curves = {"queueing": result.admissions, **result.curves}
    for name, times in curves.items():
        axes.step(sorted(times), range(1, len(times) + 1), where="post", label=name)
    axes.set_xlabel("seconds")
    axes.set_ylabel("workloads admitted")
    axes.set_title(result.scenario)
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
