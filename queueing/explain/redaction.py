"""Leaves out the names of workloads that the asker may not read.

A team may ask about its own workloads and LocalQueues. Who else holds the quota is told by queue,
amount and time; which workload of another namespace that is, only to who may read the ClusterQueue.
Whatever looks like `namespace/name` is taken for one, wherever it stands, so that no text has to be
thought of here.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from queueing.explain.model import HIDDEN, Answer

A = TypeVar("A", bound=Answer)
KEY = re.compile(r"(?<![\w./-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
"""A namespace has no dot in its name; what stands before the slash of a resource or label has."""


def redacted(answer: A, namespace: str) -> A:
    """Return an answer that names workloads of one namespace only, of none if it is empty."""
    plain = msgspec.to_builtins(answer)
    others = set(_resources_and_levels(plain))

    def hide(found: re.Match[str]) -> str:
        known = found[1] == namespace or found[0] in others
        return found[0] if known else HIDDEN

    made: A = msgspec.convert(_without(plain, hide), type(answer))
    return made


def _resources_and_levels(value: Any) -> Iterator[str]:
    """Yield names in an answer of which some have a slash, and perhaps no dot."""
    if isinstance(value, dict):
        if isinstance(value.get("resource"), str):
            yield value["resource"]
        yield from value.get("usage") or ()
        yield from value.get("levels") or ()
        for one in value.values():
            yield from _resources_and_levels(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _resources_and_levels(one)


def _without(value: Any, hide: Callable[[re.Match[str]], str]) -> Any:
    if isinstance(value, str):
        return KEY.sub(hide, value)
    if isinstance(value, list | tuple):
        return [_without(one, hide) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, hide) for key, one in value.items()}
    return value
