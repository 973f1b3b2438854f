"""Completion indexes of Indexed Jobs: `0-3,5` and back."""

from collections.abc import Iterable

from queueing.apiserver.tree import Object, metadata

ANNOTATION = "batch.kubernetes.io/job-completion-index"


def index_of(pod: Object) -> int | None:
    """Return the completion index of a pod."""
    text = (metadata(pod).get("annotations") or {}).get(ANNOTATION, "")
    return int(text) if text.isdigit() else None


def ranges(indexes: Iterable[int]) -> str:
    """Return indexes as sorted ranges."""
    parts: list[list[int]] = []
    for index in sorted(set(indexes)):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def members(text: str) -> set[int]:
    """Return the indexes in a list of ranges."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found
