"""The metrics of one process: series made on first use and forgotten with their object."""

import asyncio
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol

from typing_extensions import override

from queueing import __version__
from queueing.observe.metric_rows import NAMING, MetricGroup, MetricKind, MetricRow, ReplicaRole
from queueing.observe.metric_table import ROWS, TABLE
from queueing.observe.series import Counter, Gauge, Histogram, Sampled, label_text

ROLE_LABEL = "replica_role"
"""On every metric: a `ReplicaRole`."""

Labels = tuple[str, ...]
OPEN_METRICS = "application/openmetrics-text"
_OPEN_CONTENT = f"{OPEN_METRICS}; version=1.0.0; charset=utf-8"
_PLAIN_CONTENT = "text/plain; version=0.0.4; charset=utf-8"
_END = "# EOF\n"
UNKNOWN = "unknown"
"""The type of a metric of which OpenMetrics cannot say what it is."""
AT_ONCE = 250
"""How many series are written before the event loop may run other tasks: at most about 5 ms."""
KEPT_AT_ONCE = 10_000
"""How many at most where hardly any has changed: about as long."""
_DEFAULT_GROUPS = frozenset(MetricGroup) - {MetricGroup.RESOURCES}


class Series(Protocol):
    """One time series; which methods work depends on the type of its metric."""

    def inc(self, amount: float = 1) -> None: ...
    def dec(self, amount: float = 1) -> None: ...
    def set(self, value: float) -> None: ...
    def observe(self, amount: float, exemplar: dict[str, str] | None = None) -> None: ...


class Family:
    """All series of one metric. Keep a series `at_hand` where it is used often."""

    is_off = False
    """Whether it is turned off and keeps nothing, so that its values need not be found out."""

    def __init__(self, row: MetricRow, role: str) -> None:
        self.row = row
        self._role = role
        self._series: dict[Labels, Any] = {}  # each a `Sampled`, and what `Series` has for its kind
        self._naming = [(group, [row.labels.index(one) for one in group]) for group in row.naming]
        self._named: dict[Labels, dict[Labels, dict[Labels, None]]] = {
            group: {} for group in row.naming
        }
        """Series by the labels that name an object, and their values."""

    def labels(self, **values: str) -> Series:
        """Return the series with these labels, all of them needed."""
        try:
            key = tuple(map(values.__getitem__, self.row.labels))
        except KeyError as error:
            raise ValueError(f"{self.row.full_name} needs the label {error}") from None
        if len(values) != len(key):
            raise ValueError(f"{self.row.full_name} has the labels {self.row.labels} only")
        series: Series = self._series.get(key) or self._made(key)
        return series

    def replace_all(self, values: Mapping[Labels, float]) -> None:
        """Set a gauge's series to exactly these values, by label values in the row's order."""
        for key in self._series.keys() - values.keys():
            self._remove(key)
        self._set(values)

    def replace_those(self, mine: Mapping[str, str], values: Mapping[Labels, float]) -> None:
        """Set a gauge's series of one object, named by the labels `mine`, to exactly these values.

        Costs as much as the object has series, however many others there are.
        """
        known = self._named[tuple(mine)].get(tuple(mine.values()), {})
        for key in known.keys() - values.keys():
            self._remove(key)
        self._set(values)

    def keep_only(self, kind: Labels, names: AbstractSet[Labels]) -> bool:
        """Drop every series that names an object of a kind (`NAMING`) that is not among these.

        Say whether there was any.
        """
        found = False
        for group, _ in self._naming:
            if NAMING[group] == kind:
                known = self._named[group]
                for name in [name for name in known.keys() - names if any(name)]:
                    found = True
                    for key in list(known[name]):
                        self._remove(key)
        return found

    def head(self, *, open_metrics: bool) -> str:
        """Return what stands before its series: OpenMetrics names a counter without its suffix.

        So it has no word for a counter `x_total` beside a gauge `x`, as Kueue has them.
        """
        name, kind = self.row.full_name, str(self.row.kind)
        about = self.row.help.replace("`", "").replace("\\", r"\\")
        if open_metrics:
            about = about.replace('"', r"\"")
            if self.row.name.endswith("_total") and self.row.name.removesuffix("_total") in ROWS:
                kind = UNKNOWN
            else:
                name = name.removesuffix("_total")
        return f"# HELP {name} {about}\n# TYPE {name} {kind}\n"

    @property
    def series(self) -> list[Sampled]:
        """All of its series as they are now; Go's client does not mention a family without any."""
        return list(self._series.values())

    def _set(self, values: Mapping[Labels, float]) -> None:
        for key, value in values.items():
            (self._series.get(key) or self._made(key)).set(value)

    def _made(self, key: Labels) -> Any:
        """Make the series with these values of its labels, in the row's order."""
        named = {**dict(zip(self.row.labels, key, strict=True)), ROLE_LABEL: self._role}
        series = self._series[key] = _SERIES[self.row.kind](self.row, label_text(named))
        for group, places in self._naming:
            name = tuple([key[place] for place in places])
            self._named[group].setdefault(name, {})[key] = None
        return series

    def _remove(self, key: Labels) -> None:
        del self._series[key]
        for group, places in self._naming:
            name = tuple([key[place] for place in places])
            of_object = self._named[group][name]
            del of_object[key]
            if not of_object:
                del self._named[group][name]


class _Muted:
    """A series of a metric that is turned off: takes everything, keeps nothing."""

    def inc(self, amount: float = 1) -> None: ...
    def dec(self, amount: float = 1) -> None: ...
    def set(self, value: float) -> None: ...
    def observe(self, amount: float, exemplar: dict[str, str] | None = None) -> None: ...


_MUTED = _Muted()


class _MutedFamily(Family):
    """A metric that is turned off, so that its users need not ask."""

    is_off = True

    def __init__(self, row: MetricRow) -> None:
        super().__init__(row, "")

    @override
    def labels(self, **values: str) -> Series:
        return _MUTED

    @override
    def _set(self, values: Mapping[Labels, float]) -> None: ...


class Exposition(NamedTuple):
    """What a scraper gets."""

    body: bytes
    content_type: str


class _AtHand(dict[Labels, Series]):
    """Series that are used often: by the name of a metric, and its labels in the row's order.

    One that is not there yet is found when it is asked for. All are let go when one is dropped.
    """

    def __init__(self, families: Mapping[str, Family]) -> None:
        super().__init__()
        self._families = families

    def __missing__(self, key: Labels) -> Series:
        name, *values = key
        family = self._families[name]
        found = self[key] = family.labels(**dict(zip(family.row.labels, values, strict=True)))
        return found


class Metrics:
    """All metrics of the table as attributes, under their names without prefix."""

    def __init__(self, role: ReplicaRole, groups: Iterable[MetricGroup] = _DEFAULT_GROUPS) -> None:
        """Make every metric of the table.

        Silent are those that need a group not in `groups`, and of a follower those that only a
        leader knows.
        """
        enabled, follows = frozenset(groups), role is ReplicaRole.FOLLOWER
        self._families = {
            row.name: Family(row, role)
            if row.groups <= enabled and (row.followed or not follows)
            else _MutedFamily(row)
            for row in TABLE
        }
        self.__dict__.update(self._families)  # found without `__getattr__`
        self.at_hand = _AtHand(self._families)
        self._families["build_info"].labels(**build_info()).set(1)

    def __getattr__(self, name: str) -> Family:
        raise AttributeError(f"no metric {name!r} in the table")

    def keep_only(self, kind: Labels, names: AbstractSet[Labels]) -> None:
        """Drop every series that names an object of a kind that is not among these.

        The kind is given by its labels, such as `LOCAL_QUEUE`, and each name by their values.
        """
        dropped = [family.keep_only(kind, names) for family in self._families.values()]
        if any(dropped):
            self.at_hand.clear()

    def exposition(self, accept: str = "") -> Exposition:
        """Return all series in the format that the Accept header asks for.

        Exemplars are part of OpenMetrics only.
        """
        return _exposition(self._portions(accept), accept)

    async def expose(self, accept: str = "") -> Exposition:
        """Return the same without holding up the loop, also when every series has changed."""
        portions = []
        for one in self._portions(accept):
            portions.append(one)
            await asyncio.sleep(0)
        return _exposition(portions, accept)

    def _portions(self, accept: str) -> Iterator[str]:
        """Yield the text in portions, as few as the loop allows: each costs a turn of it."""
        open_metrics = OPEN_METRICS in accept
        portion: list[str] = []
        anew = 0
        for family in self._families.values():
            series = family.series
            portion += [family.head(open_metrics=open_metrics)] if series else []
            for one in series:
                known = one.kept
                text = one.text(exemplars=open_metrics)
                portion.append(text)
                anew += text is not known
                if anew == AT_ONCE or len(portion) >= KEPT_AT_ONCE:
                    yield "".join(portion)
                    portion, anew = [], 0
        yield "".join(portion)


def _exposition(portions: Iterable[str], accept: str) -> Exposition:
    text = "".join(portions)
    if OPEN_METRICS in accept:
        return Exposition(f"{text}{_END}".encode(), _OPEN_CONTENT)
    return Exposition(text.encode(), _PLAIN_CONTENT)


def build_info() -> dict[str, str]:
    """Return which program runs: what a Go program says of its build, as far as we have one."""
    return {
        "git_version": f"v{__version__}",
        "git_commit": "",
        "build_date": "",
        "go_version": "",
        "compiler": platform.python_implementation(),
        "platform": f"{sys.platform}/{platform.machine()}",
    }


_SERIES: Mapping[MetricKind, Callable[[MetricRow, str], Sampled]] = {
    MetricKind.COUNTER: lambda row, labels: Counter(row.full_name, labels),
    MetricKind.GAUGE: lambda row, labels: Gauge(row.full_name, labels),
    MetricKind.HISTOGRAM: lambda row, labels: Histogram(row.full_name, labels, row.buckets),
}
