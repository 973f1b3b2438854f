"""CPU time of the programs of a run, by what they do: on a busy machine it says more than seconds.

Read from `/proc`, where there is one. A program's children count with it, those that ended too.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from e2e.cluster import Cluster

STORE = ("kube-apiserver", "etcd")
SERVER, OTHERS, PRODUCT, CLIENT = "API server", "other components", "queueing", "clients"
REST_S = 4.0
_PROCESSES = Path("/proc")
_SESSION, _OWN, _TIMES = 3, slice(11, 13), slice(11, 15)
"""Places in `/proc/PID/stat` behind the name: the session; user and system time, its own, and these
with those of children that ended."""


def seconds_by_part(cluster: Cluster) -> "Counter[str]":
    """Return the CPU seconds used until now by each part of a run; nothing without `/proc`.

    Each program that a cluster runs leads a session of its own.
    """
    part_of = {one.pid: _part(cluster, one.name) for one in cluster.programs if one.running}
    found: Counter[str] = Counter()
    for _, fields in _processes():
        session = int(fields[_SESSION])
        if session in part_of:
            found[part_of[session]] += _sum(fields[_TIMES])
    if found:
        own = os.times()
        found[CLIENT] = round((own.user + own.system) * _ticks())
    return Counter({part: ticks / _ticks() for part, ticks in found.items()})


def folders_of(session: int) -> Iterator[Path]:
    """Yield the folders in `/proc` of the processes of a session; any may end meanwhile."""
    return (folder for folder, fields in _processes() if int(fields[_SESSION]) == session)


def own_seconds(folder: Path) -> float:
    """Return the CPU seconds that a process itself has used. Raises OSError when it has ended."""
    return _sum(_stat(folder)[_OWN]) / _ticks()


def each(used: "Counter[str]", floor: "Counter[str]", count: int, what: str) -> dict[str, float]:
    """Return CPU milliseconds per Job or Workload, by part, beside the floor's.

    Nothing where nobody tells.
    """
    if not floor:
        return {}
    told = {"CPU times the floor": used.total() / floor.total()}
    for who, seconds in (("", used), ("floor, ", floor)):
        told |= {
            f"{who}CPU ms per {what}: {part}": 1_000 * one / count
            for part, one in sorted(seconds.items())
        }
    return told


class Meter:
    """Measures what a stretch of time used beyond what everybody uses at rest."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._at_rest: dict[str, float] = {}
        self._began, self._before = 0.0, Counter[str]()

    async def begin(self) -> None:
        """Look how much is used at rest, then begin."""
        before = seconds_by_part(self._cluster)
        await asyncio.sleep(REST_S)
        self._before, self._began = seconds_by_part(self._cluster), time.monotonic()
        self._at_rest = {part: (at - before[part]) / REST_S for part, at in self._before.items()}

    def end(self) -> Counter[str]:
        """Return the seconds used since, by part; nothing without `/proc`."""
        used, took_s = seconds_by_part(self._cluster), time.monotonic() - self._began
        return Counter(
            {
                part: max(0.0, at - self._before[part] - took_s * self._at_rest.get(part, 0.0))
                for part, at in used.items()
            }
        )


def _part(cluster: Cluster, name: str) -> str:
    if name in STORE:
        return SERVER
    return OTHERS if name in cluster.components else PRODUCT


def _processes() -> Iterator[tuple[Path, list[str]]]:
    """Yield the folder of each process, and what its `stat` says behind the name."""
    for folder in _PROCESSES.glob("[0-9]*"):
        try:
            fields = _stat(folder)
        except OSError:
            continue  # it ended while we looked
        yield folder, fields


def _stat(folder: Path) -> list[str]:
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _sum(ticks: list[str]) -> int:
    return sum(map(int, ticks))


def _ticks() -> int:
    return os.sysconf("SC_CLK_TCK")
