"""Whether containers differ only in extended resources that stand for others."""

from collections.abc import Sequence

import msgspec

from queueing.devices.wire.names import CLASS_PREFIX
from queueing.translate.wire.pods import Container


def same_but_swapped(found: Sequence[Container], before: Sequence[Container]) -> bool:
    """Say whether containers differ at most in resources that stand for classes of devices."""
    return len(found) == len(before) and all(map(_is_swapped, found, before))


def _is_swapped(found: Container, before: Container) -> bool:
    if found == before:
        return True
    named, mine = before.resources, found.resources
    return msgspec.structs.replace(found, resources=named) == before and all(
        sorted(map(str, now.values())) == sorted(map(str, then.values()))
        and all(then.get(key) == value for key, value in now.items() if not _is_class(key))
        for now, then in ((mine.requests, named.requests), (mine.limits, named.limits))
    )


def _is_class(resource: str) -> bool:
    return resource.startswith(CLASS_PREFIX)
