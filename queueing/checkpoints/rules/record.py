"""A request to save as it is stored: all that a new leader needs to go on with it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from queueing.checkpoints.rules.phases import TERMINAL, Phase
from queueing.checkpoints.rules.terms import Terms


class SaveOutcome(StrEnum):
    """How a request ended, as far as saving is concerned."""

    SAVED = "Saved"
    UNRESPONSIVE = "Unresponsive"
    FAILED = "Failed"
    NOT_ASKED = "NotAsked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved, as the workload's pods report it."""

    uri: str = ""
    step: int | None = None
    size: int | None = None
    at: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class StopCause:
    """Why a workload is to be stopped, and the uid of the Workload that it is preempted for."""

    reason: str
    preemptor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest:
    """What is asked, and the deadlines, fixed when it is made. Times in seconds since the epoch."""

    request_id: str
    epoch: int
    cause: StopCause
    terms: Terms
    requested_at: float
    ack_by: float
    save_by: float
    """The last deadline, with all extensions and delays."""

    @classmethod
    def made(
        cls, request_id: str, epoch: int, cause: StopCause, *, terms: Terms, now: float
    ) -> "SaveRequest":
        """Return a request made at `now`, with its deadlines."""
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

    def hurried(self, patience_s: float | None) -> "SaveRequest":
        """Return the request with all deadlines within `patience_s` seconds; None changes none."""
        if patience_s is None:
            return self
        end = self.requested_at + max(patience_s, 0.0)
        return replace(self, ack_by=min(self.ack_by, end), save_by=min(self.save_by, end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A request and its state."""

    request: SaveRequest
    phase: Phase = Phase.SELECTED
    message: str = ""
    outcome: SaveOutcome | None = None
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
        """The deadline of the first answer to the present asking."""
        if self.resume_at is None:
            return self.request.ack_by
        return min(self.resume_at + self.request.terms.ack_s, self.request.save_by)

    @property
    def asks_nobody(self) -> bool:
        """Whether no time was left to save when the request was made."""
        return self.request.save_by <= self.request.requested_at

    @property
    def asking_id(self) -> str:
        """The id of the present asking: pods that are asked again must answer again."""
        first = self.request.request_id
        return f"{first}-{self.refusals + 1}" if self.refusals else first

    @property
    def is_open(self) -> bool:
        """Whether the request is not over yet."""
        return self.phase not in TERMINAL
