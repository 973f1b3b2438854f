"""A request as it is stored: all that a replica needs to go on from it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from queueing.core.checkpoints.phases import TERMINAL, Phase
from queueing.core.checkpoints.terms import Terms


class Outcome(StrEnum):
    """How the asking ended."""

    SAVED = "Saved"
    UNRESPONSIVE = "Unresponsive"
    FAILED = "Failed"
    NOT_ASKED = "NotAsked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved, in the words of the workload."""

    uri: str = ""
    step: int | None = None
    size: int | None = None
    at: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a workload is to be stopped, and the uid of the Workload that it makes room for."""

    reason: str
    preemptor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked and until when; fixed when it is made. Times in seconds since the epoch."""

    request_id: str
    epoch: int
    cause: Cause
    terms: Terms
    requested_at: float
    ack_by: float
    save_by: float
    """The end of all patience: extensions and delays included."""

    @classmethod
    def made(
        cls, request_id: str, epoch: int, cause: Cause, *, terms: Terms, now: float
    ) -> "Request":
        """Fix the deadlines of a request that is made now."""
        delays = terms.refusal_limit * (terms.refusal_delay_s + terms.ack_s)
        return cls(
            request_id=request_id,
            epoch=epoch,
            cause=cause,
            terms=terms,
            requested_at=now,
            ack_by=now + terms.ack_s,
            save_by=now + terms.ack_s + terms.save_max_s + delays,
        )

    def hurried(self, patience_s: float | None) -> "Request":
        """Shorten the deadlines to what whoever needs the room waits; None: as the terms say."""
        if patience_s is None:
            return self
        end = self.requested_at + max(patience_s, 0.0)
        return replace(self, ack_by=min(self.ack_by, end), save_by=min(self.save_by, end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A request and how far it is."""

    request: Request
    phase: Phase = Phase.SELECTED
    message: str = ""
    outcome: Outcome | None = None
    asked: tuple[str, ...] = ()
    """Pods whose answers count."""
    attempts: int = 0
    refusals: int = 0
    notified_at: float | None = None
    accepted_at: float | None = None
    save_by: float | None = None
    heard_at: float | None = None
    resume_at: float | None = None
    suspended_at: float | None = None
    kill_by: float | None = None
    ended_at: float | None = None
    saved: Saved | None = None

    @property
    def ack_by(self) -> float:
        """Until when the first answer to the present asking is needed."""
        if self.resume_at is None:
            return self.request.ack_by
        return min(self.resume_at + self.request.terms.ack_s, self.request.save_by)

    @property
    def asks_nobody(self) -> bool:
        """Whether no time was left to save when the request was made."""
        return self.request.save_by <= self.request.requested_at

    @property
    def asking_id(self) -> str:
        """Identity of the present asking: whoever is asked again must answer anew."""
        first = self.request.request_id
        return f"{first}-{self.refusals + 1}" if self.refusals else first

    @property
    def is_open(self) -> bool:
        """Whether something is still to happen."""
        return self.phase not in TERMINAL
