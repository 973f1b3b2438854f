"""Time series that keep their own text, so that a scrape writes only what changed since the last.

A controller of a thousand queues has a hundred thousand samples, and hardly any of them changes
between two scrapes. Not for several threads.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache

from typing_extensions import override

from queueing.clock import SystemClock

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_SPECIAL = {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}


def written(value: float) -> str:
    """Return a number as Prometheus reads it."""
    text = repr(float(value))
    return _SPECIAL.get(text, text)


@cache
def bucket_ends(bounds: tuple[float, ...]) -> tuple[str, ...]:
    """Return how the name of each bucket ends, that of all others last."""
    return tuple(f'le="{bound}"}} ' for bound in (*map(written, bounds), "+Inf"))


def label_text(labels: Mapping[str, str]) -> str:
    """Return labels as they stand within the braces, by name."""
    return ",".join(f'{name}="{labels[name].translate(_ESCAPES)}"' for name in sorted(labels))


class Sampled(ABC):
    """A series of any kind: its name, its labels as text, and what was written of it last."""

    __slots__ = ("_kept", "_labels", "_name")

    def __init__(self, name: str, labels: str) -> None:
        self._name, self._labels = name, labels
        self._kept: str | None = None

    @property
    def kept(self) -> str | None:
        """What was written last; None if the value has changed since."""
        return self._kept

    def text(self, *, exemplars: bool = False) -> str:
        """Return its lines, with exemplars if they are wanted and there are any."""
        del exemplars
        if self._kept is None:
            self._kept = self._lines()
        return self._kept

    @abstractmethod
    def _lines(self) -> str: ...


class _Number(Sampled):
    """One value."""

    __slots__ = ("_value",)

    def __init__(self, name: str, labels: str) -> None:
        super().__init__(name, labels)
        self._value = 0.0

    def inc(self, amount: float = 1) -> None:
        self._value += amount
        self._kept = None

    @override
    def _lines(self) -> str:
        return f"{self._name}{{{self._labels}}} {written(self._value)}\n"


class Counter(_Number):
    """A number that only grows."""

    __slots__ = ()

    @override
    def inc(self, amount: float = 1) -> None:
        if amount < 0:
            raise ValueError(f"{self._name} cannot go down by {-amount:g}")
        self._value += amount
        self._kept = None


class Gauge(_Number):
    """A number that goes up and down."""

    __slots__ = ()

    def dec(self, amount: float = 1) -> None:
        self.inc(-amount)

    def set(self, value: float) -> None:
        if value != self._value:
            self._value = value
            self._kept = None


class Histogram(Sampled):
    """How many observations were not above each bound; the last exemplar of each."""

    __slots__ = ("_bounds", "_counts", "_exemplars", "_shows_exemplars", "_sum")

    def __init__(self, name: str, labels: str, bounds: Sequence[float]) -> None:
        super().__init__(name, labels)
        self._bounds, self._sum = tuple(bounds), 0.0
        self._counts = [0] * (len(bounds) + 1)
        self._exemplars: dict[int, str] = {}
        self._shows_exemplars = False

    def observe(self, amount: float, exemplar: Mapping[str, str] | None = None) -> None:
        place = bisect_left(self._bounds, amount)
        self._counts[place] += 1
        self._sum += amount
        if exemplar:
            told = f"{written(amount)} {SystemClock().now()}"
            self._exemplars[place] = f" # {{{label_text(exemplar)}}} {told}"
        self._kept = None

    @override
    def text(self, *, exemplars: bool = False) -> str:
        if self._exemplars and exemplars is not self._shows_exemplars:
            self._kept = None
        self._shows_exemplars = exemplars
        return super().text()

    @override
    def _lines(self) -> str:
        bucket = f"{self._name}_bucket{{{self._labels},"
        told = self._exemplars if self._shows_exemplars else {}
        lines, count = [], 0
        for place, end in enumerate(bucket_ends(self._bounds)):
            count += self._counts[place]
            lines.append(f"{bucket}{end}{count}.0{told.get(place, '')}\n")
        lines.append(f"{self._name}_count{{{self._labels}}} {count}.0\n")
        lines.append(f"{self._name}_sum{{{self._labels}}} {written(self._sum)}\n")
        return "".join(lines)
