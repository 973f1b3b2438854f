"""Writes rows of usage down, an object per tree and hour, and makes them coarser as they age.

Invariants: a tree's hours are written in order, so that its newest record tells up to when all is
counted. What is added up in a coarser record is named there in the same write, and only then
deleted; so a row counts once, wherever a crash leaves it.
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
Ages = Callable[[Member], dict[Resolution, int]]
"""At which age, in seconds, the records of a tree become coarser, or go."""


class UsageRecords:
    """Knows which rows differ from what is stored, and which records have aged."""

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
        """Write what differs and is due; `at_once` whether due or not, `anyhow` also the same.

        Who left, or is about to leave, is written whether due or not.
        """
        now = self._clock.monotonic()
        failed: set[Member] = set()
        for record in self._engine.usage_records():
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
        """Add up what has aged, once in a while."""
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
        """Create or change a record; one that somebody else changed is read again first."""
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
        """Add records up in a coarser one, and delete them once it says so."""
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
    """Say whether a record says something new; that time passes over idle quota is not."""
    if known is None:
        return True
    if known.leavers != record.leavers or len(known.rows) != len(record.rows):
        return True
    return any(
        replace(one, quota=0) != replace(other, quota=0)
        for one, other in zip(known.rows, record.rows, strict=True)
    )
