"""Which changes of an object its kind forbids while it is queued, or runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from queueing.kinds.compiler import Kind
from queueing.kinds.paths import ABSENT, Steps, steps, value_at
from queueing_api.queueing.v1alpha1.queueable_kind import FixedField


def changed_fields(
    kind: Kind, before: Mapping[str, Any], after: Mapping[str, Any], *, running: bool
) -> Iterator[Steps]:
    """Yield the fixed fields that differ between two versions of an object, which is queued.

    `running` says that it was not suspended before. Of a list the first entry that differs is
    named.
    """
    for rule in kind.spec.fixed:
        if rule.when == "Running" and not running:
            continue
        path = steps(rule.path)
        old, new = value_at(before, path), value_at(after, path)
        if rule.entries:
            yield from _in_entries(rule, path, old, new)
        elif old != new:
            yield path


def _in_entries(rule: FixedField, path: Steps, old: Any, new: Any) -> Iterator[Steps]:
    was, now = (one if isinstance(one, list) else [] for one in (old, new))
    if len(was) != len(now):
        yield path
        return
    for at, (one, other) in enumerate(zip(was, now, strict=True)):
        for part in map(steps, rule.entries):
            if _or_nothing(one, part) != _or_nothing(other, part):
                yield (*path, at, *part)
                return


def _or_nothing(entry: Any, path: Steps) -> Any:
    """Return a field of an entry; one that is empty is as good as absent."""
    found = value_at(entry, path)
    return None if found is ABSENT or found in ({}, []) else found
