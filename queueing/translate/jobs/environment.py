"""Environment variables that a container names twice, which the API server allows in a Job.

The container gets the last value. A Workload holds each name once, so that its template can be
applied and compared by name; the Job keeps what it was created with.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from queueing.translate.wire.meta import Wire

_LISTS = ("containers", "initContainers")


class _Variable(Wire, frozen=True):
    name: str = ""


class _Container(Wire, frozen=True):
    env: list[_Variable] | None = None


class _Containers(Wire, frozen=True):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None


_containers = msgspec.json.Decoder(_Containers)
_spec = msgspec.json.Decoder(dict[str, Any])


def each_name_once(spec: msgspec.Raw) -> msgspec.Raw:
    """Return the spec of pods whose containers name each variable once; mostly the same object.

    A name stands where it stood first, with its last value.
    """
    found = _containers.decode(spec)
    if not any(map(_repeats, (*(found.containers or ()), *(found.init_containers or ())))):
        return spec
    whole = _spec.decode(spec)
    for name in _LISTS:
        for container in whole.get(name) or ():
            if container.get("env"):
                container["env"] = _last_of_each(container["env"])
    return msgspec.Raw(msgspec.json.encode(whole))


def _repeats(container: _Container) -> bool:
    named = container.env or ()
    return len({one.name for one in named}) < len(named)


def _last_of_each(variables: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({one["name"]: one for one in variables}.values())
