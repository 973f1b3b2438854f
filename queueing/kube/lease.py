"""Leader election through one Lease object, with a fence for writes (client-go's has none).

How two leaders are kept apart: the holder counts the lease's duration from *before* it sent the
renewal, all others from *after* they saw it, each by its own monotonic clock. A write is sent only
while the lease outlasts the write's hard timeout, so that all writes of a holder have ended when
another one may take over. A new holder waits for one more such timeout before it leads, because the
server may still be executing a write; unless the old holder released the lease, which it does after
its last write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from queueing.clock import Clock
from queueing.kube.backoff import Draw, draw
from queueing.kube.client import WRITE_TIMEOUT_S
from queueing.kube.errors import ConflictError, KubeError, UnreachableError
from queueing.kube.lease_record import LeaseRecord, LeaseStore

logger = logging.getLogger(__name__)

LEASE_NAME = "c1f6bfd2.kueue.x-k8s.io"
"""The lease that Kueue itself holds, so that the two never lead in one cluster at a time."""

_JITTER = 1.2
"""What Kubernetes' own leader election stretches `retryPeriod` by, at the most."""
_ATTEMPTS_PER_DEADLINE = 2
_LOOKS_PER_RETRY = 4
"""A standby's clock starts when it sees a renewal: what it sees late, it takes over late."""
_RELEASE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseSettings:
    """The usual three times of leader election, and the hard timeout of a decision write; seconds.

    `identity` must differ between processes, also between two runs of one pod.
    """

    identity: str
    duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_s: float = 2.0
    write_timeout_s: float = WRITE_TIMEOUT_S

    def __post_init__(self) -> None:
        if not self.retry_s * _JITTER < self.renew_deadline_s < self.duration_s:
            raise ValueError(
                "leader election: need retryPeriod x 1.2 < renewDeadline < leaseDuration, got "
                f"{self.retry_s}, {self.renew_deadline_s}, {self.duration_s}"
            )
        if self.write_timeout_s >= self.duration_s:
            raise ValueError(
                f"leader election: leaseDuration {self.duration_s} must be longer than the "
                f"hard timeout of a write, {self.write_timeout_s}"
            )


@dataclass(frozen=True, slots=True)
class LeaseTerm:
    """One period of leadership; `epoch` grows with every change of the holder."""

    identity: str
    epoch: int


class Fence:
    """Whether we may still act as leader, by our own monotonic clock alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._valid_until = float("-inf")

    def valid_for_longer_than(self, seconds: float) -> bool:
        """Say whether the lease is ours for more than this many seconds from now."""
        return self._clock.monotonic() + seconds < self._valid_until

    def open_until(self, moment: float) -> None:
        """Count as valid until this reading of the monotonic clock."""
        self._valid_until = moment

    def close(self) -> None:
        """Count as lost from now on."""
        self._valid_until = float("-inf")


Lead = Callable[[LeaseTerm], Awaitable[None]]
"""What a leader does: begins from fresh lists; is cancelled and awaited when the lease is lost."""


class Lease:
    """Competes for the lease and leads while it holds it.

    `holder` is the last known holder's identity, `term` our own period while `lead` runs.
    """

    def __init__(
        self, store: LeaseStore, settings: LeaseSettings, clock: Clock, draw: Draw = draw
    ) -> None:
        self.fence = Fence(clock)
        self.holder = ""
        self.term: LeaseTerm | None = None
        self._store = store
        self._settings = settings
        self._clock = clock
        self._draw = draw
        self._record: LeaseRecord | None = None
        self._seen_at = 0.0
        self._renewed_at = 0.0

    async def run(self, lead: Lead) -> None:
        """Compete, lead, and compete again, until cancelled or until `lead` ends by itself.

        On the way out the lease is released, after `lead` has ended.
        """
        while True:
            grace = await self._acquire()
            try:
                ended = await self._lead(lead, grace)
            finally:
                await self._release()
            if ended:
                return
            logger.error("the leadership is lost; competing for it again")

    async def _acquire(self) -> float:
        """Wait until the lease is ours; returns the seconds to wait before leading."""
        told = ""
        while True:
            try:
                grace = await self._try_to_acquire()
            except (ConflictError, UnreachableError) as error:
                # Another replica was faster, or the server is away, which is told elsewhere.
                logger.debug("the lease cannot be had: %s", error)
                grace = None
            except KubeError as error:
                if str(error) != told:
                    logger.warning("the lease cannot be had, trying again: %s", error)
                told, grace = str(error), None
            if grace is not None:
                return grace
            await asyncio.sleep(self._pause_s())

    def _pause_s(self) -> float:
        """Return when to look again: often, as looking is cheap, and as soon as it may run out."""
        pause = self._settings.retry_s * (1 + self._draw()) / 2 / _LOOKS_PER_RETRY
        left = self._runs_out_at() - self._clock.monotonic()
        return min(pause, left) if left > 0 else pause

    def _runs_out_at(self) -> float:
        """Return when the lease of another, as it was last seen, is over by our clock."""
        found = self._record
        life = found.duration_s if found is not None else 0.0
        return self._seen_at + (life or self._settings.duration_s)

    async def _try_to_acquire(self) -> float | None:
        found = await self._store.read(self._attempt_timeout_s)
        self._observe(found)
        if found is None or not found.holder:
            transitions = 0 if found is None else found.transitions + 1
            await self._take(found, transitions)
            return 0.0
        if found.holder == self._settings.identity:
            await self._take(found, found.transitions)
            return self._settings.write_timeout_s
        if self._clock.monotonic() < self._runs_out_at():
            return None
        logger.info("the lease of %s has run out", found.holder)
        await self._take(found, found.transitions + 1)
        return self._settings.write_timeout_s

    def _observe(self, found: LeaseRecord | None) -> None:
        """Note when the record was first seen as it is; times that others wrote do not count."""
        before = self._record
        if before is None or found is None or found.content != before.content:
            self._seen_at = self._clock.monotonic()
        self._record = found
        self.holder = found.holder if found is not None else ""

    async def _take(self, found: LeaseRecord | None, transitions: int) -> None:
        """Write ourselves into the lease, on the very version that was read."""
        began = self._clock.monotonic()
        now = self._clock.now()
        same_term = found is not None and found.holder == self._settings.identity
        wanted = LeaseRecord(
            holder=self._settings.identity,
            duration_s=self._settings.duration_s,
            acquired=found.acquired if found is not None and same_term else now,
            renewed=now,
            transitions=transitions,
            version=found.version if found is not None else "",
        )
        self._record = await self._store.write(wanted, self._attempt_timeout_s)
        self.holder = self._settings.identity
        self._renewed_at = began
        self.fence.open_until(began + self._settings.duration_s)

    @property
    def _attempt_timeout_s(self) -> float:
        return self._settings.renew_deadline_s / _ATTEMPTS_PER_DEADLINE

    async def _lead(self, lead: Lead, grace: float) -> bool:
        """Lead and renew side by side; True if `lead` ended by itself, False if it was lost."""
        transitions = self._record.transitions if self._record is not None else 0
        term = LeaseTerm(self._settings.identity, transitions)

        async def after_grace() -> None:
            await asyncio.sleep(grace)
            logger.info("leading, epoch %d", term.epoch)
            self.term = term
            try:
                await lead(term)
            finally:
                self.term = None

        async with asyncio.TaskGroup() as group:
            leading = group.create_task(after_grace(), name="lead")
            holding = group.create_task(self._hold(), name="hold the lease")
            try:
                await asyncio.wait({leading, holding}, return_when=asyncio.FIRST_COMPLETED)
                ended = leading.done()
            finally:
                # The lease is kept while the leader winds down, so that it can finish its writes.
                leading.cancel()
                await asyncio.wait({leading})
                holding.cancel()
        return ended

    async def _hold(self) -> None:
        """Renew until that fails for longer than the deadline, or somebody else holds the lease."""
        told = ""
        while True:
            await asyncio.sleep(min(self._settings.retry_s, max(0.0, self._time_to_renew())))
            left = self._time_to_renew()
            if left <= 0:
                logger.error("the lease was not renewed in time")
                break
            try:
                async with asyncio.timeout(left):
                    held = await self._renew()
            except (KubeError, TimeoutError) as error:
                text = str(error) or "no reply"
                if text != told:
                    logger.warning("the lease could not be renewed, trying again: %s", text)
                told = text
                continue
            told = ""
            if not held:
                logger.error("the lease is now held by %s", self.holder or "nobody")
                break
        self.fence.close()

    def _time_to_renew(self) -> float:
        """Return the seconds that are left for a renewal; negative when it is too late."""
        return self._renewed_at + self._settings.renew_deadline_s - self._clock.monotonic()

    async def _renew(self) -> bool:
        """Renew on the version we know; after a conflict, look whose it is."""
        record = self._record
        if record is not None and record.holder == self._settings.identity:
            try:
                await self._take(record, record.transitions)
            except ConflictError:
                record = None
            else:
                return True
        found = await self._store.read(self._attempt_timeout_s)
        self._observe(found)
        if found is None or found.holder != self._settings.identity:
            return False
        await self._take(found, found.transitions)
        return True

    async def _release(self) -> None:
        """Give the lease back if it is still ours, so that the next leader need not wait."""
        record, self._record = self._record, None
        valid = self.fence.valid_for_longer_than(0.0)
        self.fence.close()
        try:
            if record is not None and valid:
                await self._write_empty(record)
        except KubeError as error:
            logger.warning("the lease could not be released and must run out: %s", error)

    async def _write_empty(self, record: LeaseRecord) -> None:
        try:
            await self._store.write(self._emptied(record), _RELEASE_TIMEOUT_S)
        except ConflictError:
            # Our last renewal was cut off on the way out, and yet it arrived.
            found = await self._store.read(_RELEASE_TIMEOUT_S)
            if found is None or found.holder != self._settings.identity:
                return
            await self._store.write(self._emptied(found), _RELEASE_TIMEOUT_S)
        logger.info("the lease is released")

    def _emptied(self, record: LeaseRecord) -> LeaseRecord:
        now = self._clock.now()
        return replace(record, holder="", duration_s=1.0, acquired=now, renewed=now)
