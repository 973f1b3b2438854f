"""The compressed form of an assignment that API version v1beta2 stores, and back.

Values that all domains of a slice share are written once, and so is what they begin and end with.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any, TypeVar

from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain

T = TypeVar("T")
SLICES_MAX = 1000
DOMAINS_MAX = 100_000
"""Of one slice."""


def encode(assignment: Assignment, *, by_prefix: bool = True) -> dict[str, Any]:
    """Return `levels` and `slices`, in the order of fields in which they are stored.

    With `by_prefix`, hosts are put into slices by what their names begin with if that is shorter.
    """
    levels, domains = list(assignment.levels), assignment.domains
    whole: dict[str, Any] = {"levels": levels, "slices": [_slice(domains)] if domains else []}
    if not by_prefix or not domains:
        return whole
    keys: Sequence[str] = [""] * len(domains)
    if len(domains) > 1 and levels[-1] == HOSTNAME:
        keys = _keys([one.values[-1] for one in domains])
    split = {"levels": levels, "slices": [_slice(run) for run in _runs(domains, keys)]}
    is_shorter = len(domains) > DOMAINS_MAX or _length(split) <= _length(whole)
    return split if is_shorter else whole


def decode(document: Mapping[str, Any]) -> Assignment:
    """Return what was encoded. The document must obey the schema.

    Raises ValueError where its parts contradict each other.
    """
    levels = tuple(document["levels"])
    domains = tuple(domain for one in document["slices"] for domain in _domains(one))
    if any(len(one.values) != len(levels) for one in domains):
        msg = "not one value per level"
        raise ValueError(msg)
    return Assignment(levels, domains)


def _domains(document: Mapping[str, Any]) -> Iterator[Domain]:
    count = document["domainCount"]
    counts = _numbers(document["podCounts"], count)
    columns = [_values(one, count) for one in document["valuesPerLevel"]]
    return map(Domain, zip(*columns, strict=True), counts)


def _whole(found: list[T], count: int) -> list[T]:
    if len(found) != count:
        msg = f"{len(found)} values for {count} domains"
        raise ValueError(msg)
    return found


def _numbers(document: Mapping[str, Any], count: int) -> list[int]:
    if "universal" in document:
        return [document["universal"]] * count
    return _whole(list(document["individual"]), count)


def _values(document: Mapping[str, Any], count: int) -> list[str]:
    if "universal" in document:
        return [document["universal"]] * count
    parts = document["individual"]
    middles = _whole(list(parts["roots"]), count)
    return [f"{parts.get('prefix', '')}{one}{parts.get('suffix', '')}" for one in middles]


def _slice(domains: Sequence[Domain]) -> dict[str, Any]:
    counts = [one.count for one in domains]
    equal = len(set(counts)) == 1
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [
            _compressed(column) for column in zip(*(one.values for one in domains), strict=True)
        ],
        "podCounts": {"universal": counts[0]} if equal else {"individual": counts},
    }


def _compressed(values: Sequence[str]) -> dict[str, Any]:
    """Return values as one, or as what they begin and end with and the rest of each."""
    if len(set(values)) == 1:
        return {"universal": values[0]}
    shortest = min(map(len, values))
    suffix = _common([one[::-1] for one in values])[::-1]
    prefix = _common(values)[: shortest - len(suffix)]
    ends = {"prefix": prefix, "suffix": suffix}
    roots = [one[len(prefix) : len(one) - len(suffix)] for one in values]
    return {"individual": {**{end: text for end, text in ends.items() if text}, "roots": roots}}


def _common(values: Sequence[str]) -> str:
    """Return what all values begin with."""
    first, last = min(values), max(values)
    ends = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(ends, len(first))]


def _length(document: Mapping[str, Any]) -> int:
    return len(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode())


def _runs(domains: Sequence[Domain], keys: Sequence[str]) -> Iterator[Sequence[Domain]]:
    """Yield consecutive domains of one key, as many as a slice may hold."""
    at = 0
    for _, run in groupby(keys):
        end = at + sum(1 for _ in run)
        for begin in range(at, end, DOMAINS_MAX):
            yield domains[begin : min(begin + DOMAINS_MAX, end)]
        at = end


def _keys(hosts: Sequence[str]) -> Sequence[str]:
    """Return the beginning by which each host is put into a slice; empty if none are used.

    It ends with a dash, and another host has it, too. The longest are tried first.
    """
    beginnings = [_beginnings(one) for one in hosts]
    shared = Counter(one for mine in beginnings for one in mine)
    usable = [[one if shared[one] > 1 else "" for one in mine] for mine in beginnings]
    # the longest that is shared, among the first, the first two, the first three …
    longest = [list(accumulate(mine, _later)) for mine in usable]
    for depth in range(max(map(len, longest)), 0, -1):
        keys = [mine[min(depth, len(mine)) - 1] if mine else "" for mine in longest]
        slices = sum(-(-sum(1 for _ in run) // DOMAINS_MAX) for _, run in groupby(keys))
        if slices <= SLICES_MAX:
            return keys
    return [""] * len(hosts)


def _later(before: str, now: str) -> str:
    return now or before


def _beginnings(host: str) -> list[str]:
    return [host[: at + 1] for at, letter in enumerate(host[:-1]) if letter == "-"]
