"""Everything that an engine is told or decides can be written down."""

import dataclasses
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

import pytest

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Cycle, Outcome
from queueing.core.facts import Fact
from queueing.core.names import FlavorName, Uid
from queueing.core.settings import Settings
from queueing.core.variants import Migration, Variant
from queueing.recording.codec import CLASSES, decode, encode
from queueing.testing.builders import cluster_queue, workload


def _within(hint: Any, seen: set[type]) -> Iterator[type]:
    """Yield the classes of ours that a value of a type may hold, itself included."""
    for part in get_args(hint):
        yield from _within(part, seen)
    is_ours = isinstance(hint, type) and hint.__module__.startswith("queueing.")
    if not is_ours or hint in seen:
        return
    seen.add(hint)
    yield hint
    if not issubclass(hint, Enum):
        for part in get_type_hints(hint).values():
            yield from _within(part, seen)


REACHED = sorted(
    set(_within(Fact | CreditFact | Settings | Cycle | Outcome, set())),
    key=lambda cls: cls.__name__,
)
SPOT = FlavorName("spot")


@pytest.mark.parametrize("cls", REACHED, ids=lambda cls: cls.__name__)
def test_every_class_within_facts_settings_and_decisions_has_a_name(cls: type) -> None:
    assert CLASSES.get(cls.__name__) is cls


@pytest.mark.parametrize(
    "fact",
    [
        dataclasses.replace(cluster_queue(), migration=Migration(last_acceptable=SPOT)),
        dataclasses.replace(workload(), variant=Variant(parent=Uid("u-1"), flavor=SPOT)),
    ],
    ids=["a queue with variants", "a variant"],
)
def test_variants_are_written_down_without_loss(fact: Fact) -> None:
    assert decode(encode(fact)) == fact
