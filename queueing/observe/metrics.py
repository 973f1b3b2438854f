"""The metrics of one process: series made on first use and forgotten with their object."""

import asyncio
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Protocol, cast

import prometheus_client
from prometheus_client.exposition import choose_encoder
from typing_extensions import override

from queueing import __version__
from queueing.observe.metric_rows import NAMING, MetricGroup, MetricKind, MetricRow, ReplicaRole
from queueing.observe.metric_table import ROWS, TABLE

ROLE_LABEL = "replica_role"
"""On every metric: a `ReplicaRole`."""

Labels = tuple[str, ...]
_END = b"# EOF\n"
_DEFAULT_GROUPS = frozenset(MetricGroup) - {MetricGroup.RESOURCES}


class Series(Protocol):
    """One time series; which methods work depends on the type of its metric."""

    def inc(self, amount: float = 1) -> None: ...
    def dec(self, amount: float = 1) -> None: ...
    def set(self, value: float) -> None: ...
    def observe(self, amount: float, exemplar: dict[str, str] | None = None) -> None: ...


class Family:
    """All series of one metric. Keep a series at hand where it is used often."""

    def __init__(self, row: MetricRow, vector: Any, role: str) -> None:
        self.row = row
        self._vector = vector  # a Counter, Gauge or Histogram of prometheus_client, untyped there
        self._role = role
        self._series: dict[Labels, Series] = {}
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
        series = self._series.get(key)
        if series is None:
            series = cast("Series", self._vector.labels(*key, self._role))
            self._series[key] = series
            for group, places in self._naming:
                name = tuple([key[place] for place in places])
                self._named[group].setdefault(name, {})[key] = None
        return series

    def replace_all(self, values: Mapping[Labels, float]) -> None:
        """Set a gauge's series to exactly these values, by label values in the row's order."""
        for key in [key for key in self._series if key not in values]:
            self._remove(key)
        self._set(values)

    def replace_those(self, mine: Mapping[str, str], values: Mapping[Labels, float]) -> None:
        """Set a gauge's series of one object, named by the labels `mine`, to exactly these values.

        Costs as much as the object has series, however many others there are.
        """
        known = self._named[tuple(mine)].get(tuple(mine.values()), {})
        for key in [key for key in known if key not in values]:
            self._remove(key)
        self._set(values)

    def keep_only(self, kind: Labels, names: AbstractSet[Labels]) -> None:
        """Drop every series that names an object of a kind (`NAMING`) that is not among these."""
        for group, _ in self._naming:
            if NAMING[group] == kind:
                known = self._named[group]
                for name in [name for name in known.keys() - names if any(name)]:
                    for key in list(known[name]):
                        self._remove(key)

    def _set(self, values: Mapping[Labels, float]) -> None:
        for key, value in values.items():
            self.labels(**dict(zip(self.row.labels, key, strict=True))).set(value)

    def _remove(self, key: Labels) -> None:
        del self._series[key]
        self._vector.remove(*key, self._role)
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

    def __init__(self, row: MetricRow) -> None:
        super().__init__(row, None, "")

    @override
    def labels(self, **values: str) -> Series:
        return _MUTED


class _Inhabited:
    """A registry without the families that have no series: Go's client does not mention them."""

    def __init__(self, registry: prometheus_client.CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Any]:
        return (family for family in self._registry.collect() if family.samples)


class Exposition(NamedTuple):
    """What a scraper gets."""

    body: bytes
    content_type: str


class Metrics:
    """All metrics of the table as attributes, under their names without prefix."""

    def __init__(self, role: ReplicaRole, groups: Iterable[MetricGroup] = _DEFAULT_GROUPS) -> None:
        """Make every metric of the table.

        Silent are those that need a group not in `groups`, and of a follower those that only a
        leader knows.
        """
        # Without this each counter and histogram has a second series with its time of creation.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        enabled, follows = frozenset(groups), role is ReplicaRole.FOLLOWER
        self._registry = prometheus_client.CollectorRegistry(auto_describe=False)
        # The library takes `x` and `x_total` for one metric; Kueue has both, so one lives apart.
        self._twins = prometheus_client.CollectorRegistry(auto_describe=False)
        self._families = {
            row.name: self._family(row, role)
            if row.groups <= enabled and (row.followed or not follows)
            else _MutedFamily(row)
            for row in TABLE
        }
        self.__dict__.update(self._families)  # found without `__getattr__`
        self._families["build_info"].labels(**build_info()).set(1)

    def __getattr__(self, name: str) -> Family:
        raise AttributeError(f"no metric {name!r} in the table")

    def keep_only(self, kind: Labels, names: AbstractSet[Labels]) -> None:
        """Drop every series that names an object of a kind that is not among these.

        The kind is given by its labels, such as `LOCAL_QUEUE`, and each name by their values.
        """
        for family in self._families.values():
            family.keep_only(kind, names)

    def exposition(self, accept: str = "") -> Exposition:
        """Return all series in the format that the Accept header asks for.

        Exemplars are part of OpenMetrics only.
        """
        encode, content_type = choose_encoder(accept)
        body = encode(_Inhabited(self._registry)).removesuffix(_END)
        body += encode(_Inhabited(self._twins))
        return Exposition(body, content_type)

    async def expose(self, accept: str = "") -> Exposition:
        """Return the same without holding up the loop: a thousand queues take 0.3 s."""
        return await asyncio.to_thread(self.exposition, accept)

    def _family(self, row: MetricRow, role: str) -> Family:
        labels = (*row.labels, ROLE_LABEL)
        has_twin = row.kind is MetricKind.GAUGE and f"{row.name}_total" in ROWS
        registry = self._twins if has_twin else self._registry
        vector = _VECTORS[row.kind](row, labels, registry)
        return Family(row, vector, role)


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


def _histogram(row: MetricRow, labels: tuple[str, ...], registry: Any) -> Any:
    return prometheus_client.Histogram(
        row.full_name, _plain(row.help), labels, registry=registry, buckets=row.buckets
    )


def _counter(row: MetricRow, labels: tuple[str, ...], registry: Any) -> Any:
    return prometheus_client.Counter(row.full_name, _plain(row.help), labels, registry=registry)


def _gauge(row: MetricRow, labels: tuple[str, ...], registry: Any) -> Any:
    return prometheus_client.Gauge(row.full_name, _plain(row.help), labels, registry=registry)


def _plain(text: str) -> str:
    return re.sub("`", "", text)


_VECTORS: Mapping[MetricKind, Callable[[MetricRow, tuple[str, ...], Any], Any]] = {
    MetricKind.COUNTER: _counter,
    MetricKind.GAUGE: _gauge,
    MetricKind.HISTOGRAM: _histogram,
}
