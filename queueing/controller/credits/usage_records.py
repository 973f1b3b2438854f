"""Stores rows of usage as UsageRecords, an object per tree and hour, and adds up old ones.

A tree is a root cohort with all below it, or a ClusterQueue without a cohort; records name its
root. Old hours are added up to days, days to months, and old months are deleted. Invariants: the
hours of a tree are written in order, so that its newest record tells up to when usage is counted. A
record that is added up is named in the sum by the same write, and only then deleted, so that each
row counts once wherever a crash happens.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

import msgspec

from queueing.clock import Clock
from queueing.controller.credits.usage_intake import UsageIntake
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.credits.facts import Member, UsageRecordFact
from queueing.core.credits.folding import Resolution, bounded
from queueing.kube.errors import ConflictError, KubeError, NotFoundError
from queueing.kube.resources import USAGE_RECORDS
from queueing.state.engine import Engine
from queueing.translate import credits_wire as wire
from queueing.translate import usage_records as translate
from queueing.translate.outbound.conditions import patch
from queueing.translate.usage_records import Stretch

logger = logging.getLogger(__name__)

FOLD_EVERY_S = 300.0
"""Seconds between two looks for records that are old enough to be added up."""
Ages = Callable[[Member], dict[Resolution, int]]
"""By tree and resolution: the age in seconds at which records are added up or deleted."""


class UsageRecords:
    """Knows which rows differ from what is stored; called by `Accounts`."""

    def __init__(
        self, engine: Engine, writes: LeaderWrites, clock: Clock, intake: UsageIntake
    ) -> None:
        self._engine, self._writes, self._clock, self._intake = engine, writes, clock, intake
        self._written: dict[str, UsageRecordFact] = {}
        self._last: dict[Member, float] = {}
        self._folded_at = -FOLD_EVERY_S

    def is_due(self, every_s: float) -> bool:
        """Say whether the rows of any tree may be written again."""
        now = self._clock.monotonic()
        return any(now - one >= every_s for one in self._last.values())

    async def write(self, every_s: float, *, at_once: bool, anyhow: bool) -> None:
        """Store what differs and is due; `at_once`: due or not, `anyhow`: different or not.

        A record whose leavers (Workloads that end) changed counts as due. Once a record of a tree
        cannot be written, its later ones are not tried: hours are stored in order.
        """
        now = self._clock.monotonic()
        failed: set[Member] = set()
        for record in self._engine.credits.usage():
            of = Stretch(record.root, Resolution.HOUR, record.start)
            due = at_once or now - self._last.get(record.root, -every_s) >= every_s
            known = self._written.get(of.name)
            left = record.leavers != (() if known is None else known.leavers)
            wanted = (due or left) and (anyhow or _differs(known, record))
            if due and record.as_of < of.end:
                self._last[record.root] = now
            if wanted and record.root not in failed and not await self._write(of, record):
                failed.add(record.root)

    async def fold(self, ages: Ages) -> None:
        """Add up or delete records that are old enough, every `FOLD_EVERY_S`."""
        now = self._clock.monotonic()
        if now - self._folded_at < FOLD_EVERY_S:
            return
        self._folded_at = now
        for resolution in (Resolution.HOUR, Resolution.DAY, Resolution.MONTH):
            aged: dict[Stretch | None, list[Stretch]] = {}
            for of in self._intake.aged(resolution, ages, self._clock.now()):
                aged.setdefault(of.coarser, []).append(of)
            for into, ones in aged.items():
                await self._fold_into(into, ones)

    # Inside -------------------------------------------------------------------------------------

    async def _write(self, of: Stretch, record: UsageRecordFact) -> bool:
        try:
            await self._store(of, translate.usage_status(record))
        except KubeError as error:
            self._written.pop(of.name, None)
            logger.info("UsageRecord %s was not written: %s", of.name, error)
            return False
        self._written[of.name] = record
        if record.as_of == of.end:
            self._written.pop(of.name)
        return True

    async def _store(self, of: Stretch, status: dict[str, object]) -> None:
        """Create or patch a record.

        When another version of it exists, that is read, and the error raised: the next call of
        `write` tries again.
        """
        known = self._intake.known.get(of.name)
        try:
            if known is None:
                body = msgspec.json.encode(translate.usage_object(of, status))
                reply = await self._writes.create(USAGE_RECORDS.within(), body)
            else:
                body = patch(known.meta, {"status": status})
                reply = await self._writes.patch(USAGE_RECORDS.at(of.name), body)
        except (ConflictError, NotFoundError):
            await self._read(of)
            raise
        self._intake.take(msgspec.json.decode(reply, type=wire.UsageRecord))

    async def _read(self, of: Stretch) -> wire.UsageRecord | None:
        try:
            reply = await self._writes.client.get(USAGE_RECORDS.at(of.name))
        except NotFoundError:
            self._intake.forget(of.name)
            return None
        found = msgspec.json.decode(reply, type=wire.UsageRecord)
        self._intake.take(found)
        return found

    async def _fold_into(self, into: Stretch | None, aged: Iterable[Stretch]) -> None:
        """Add records to the coarser one `into`, and delete them once it includes them.

        Without `into` they are deleted.
        """
        try:
            ones = sorted(aged, key=lambda one: one.start)
            if into is not None:
                await self._add_up(into, ones)
            for one in ones:
                await self._writes.delete(USAGE_RECORDS.at(one.name))
                self._intake.forget(one.name)
        except KubeError as error:
            logger.info("rows of usage stay as they are for now: %s", error)

    async def _add_up(self, into: Stretch, aged: Iterable[Stretch]) -> None:
        sum_of = await self._read(into)
        folded = () if sum_of is None else translate.folded(sum_of)
        record = UsageRecordFact(root=into.root, start=into.start, as_of=into.start)
        if sum_of is not None:
            record = translate.usage_record(sum_of)
        before = folded
        for one in aged:
            found = None if one.start in folded else await self._read(one)
            if found is not None:
                part = translate.usage_record(found)
                record = replace(
                    record,
                    as_of=max(record.as_of, part.as_of),
                    unit=part.unit or record.unit,
                    rows=tuple(bounded([*record.rows, *part.rows])),
                )
                folded = (*folded, one.start)
        if folded != before:
            await self._store(into, translate.usage_status(record, folded))


def _differs(known: UsageRecordFact | None, record: UsageRecordFact) -> bool:
    """Say whether a record says something new; the passing of time alone does not count."""
    if known is None:
        return True
    if known.leavers != record.leavers or len(known.rows) != len(record.rows):
        return True
    return any(
        replace(one, quota=0) != replace(other, quota=0)
        for one, other in zip(known.rows, record.rows, strict=True)
    )
