"""Handles watch events of UsageRecords.

The engine gets the newest hour of each tree of quota. Of all other records only is remembered which
hour, day or month they cover, not their rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from queueing.core.credits.facts import (
    CreditFact,
    CreditGone,
    CreditKind,
    Member,
    name_of_tree,
)
from queueing.core.credits.folding import Resolution
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate import credits_wire as wire
from queueing.translate import usage_records as translate
from queueing.translate.usage_records import Stretch
from queueing.translate.wire.meta import Meta


@dataclass(frozen=True, slots=True)
class Known:
    """What is remembered of a record."""

    meta: Meta
    of: Stretch
    """Its tree, its resolution and its time."""


class UsageIntake:
    """All records by name; `observe` gets the newest hour of each tree."""

    def __init__(self, observe: Callable[[CreditFact], None]) -> None:
        self._observe = observe
        self.known: dict[str, Known] = {}
        self._newest: dict[Member, Stretch] = {}

    def on_event(self, event: WatchEvent[wire.UsageRecord]) -> None:
        """Handle a watch event of a UsageRecord."""
        match event:
            case Added(object=found) | Modified(object=found):
                self.take(found)
            case Deleted(key=key):
                self.forget(key)
            case Synced():
                pass

    def take(self, found: wire.UsageRecord) -> None:
        """Remember a record, unless a newer version is known."""
        name, of = found.metadata.name, translate.stretch(found)
        known = self.known.get(name)
        if known is not None and not found.metadata.is_newer_than(known.meta):
            return
        self.known[name] = Known(found.metadata, of)
        if of.resolution is not Resolution.HOUR or name != of.name:
            return
        newest = self._newest.get(of.root)
        if newest is None or of.start >= newest.start:
            self._newest[of.root] = of
            self._observe(translate.usage_record(found))

    def forget(self, name: str) -> None:
        """Forget a deleted record."""
        known = self.known.pop(name, None)
        if known is not None and self._newest.get(known.of.root) == known.of:
            del self._newest[known.of.root]
            self._observe(CreditGone(CreditKind.USAGE, name_of_tree(known.of.root)))

    def aged(
        self, resolution: Resolution, ages: Callable[[Member], dict[Resolution, int]], now: float
    ) -> Iterator[Stretch]:
        """Yield the records of one resolution that are to be added up or deleted, ordered by name.

        `ages` is as `Intake.ages` returns it. The newest hour of a tree stays, because it tells up
        to when usage is counted.
        """
        for name, known in sorted(self.known.items()):
            of = known.of
            if of.resolution is not resolution or name != of.name:
                continue
            if self._newest.get(of.root) != of and of.end + ages(of.root)[resolution] <= now:
                yield of
