"""How long the stages of a request took, and how much work was saved and lost: for observers."""

from dataclasses import dataclass

from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, SaveOutcome


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a request, from begin to end, in seconds since the epoch."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Times that are not stored with a request, so a new leader lacks them; epoch seconds."""

    chosen_at: float | None = None
    """When the workload was chosen as a victim."""
    halted_at: float | None = None
    """When all of its Jobs were suspended."""
    drained_at: float | None = None
    """When its last pod was gone."""


UNKNOWN = Moments()


def stages(record: Record, now: float, beside: Moments = UNKNOWN) -> tuple[Stage, ...]:
    """Return the stages that a request went through by `now`, from select to release.

    A stage that was not reached, or whose begin is unknown, is missing. Each stage ends where the
    next one begins.
    """
    stop, halted = record.suspended_at, beside.halted_at
    over = record.ended_at if record.ended_at is not None else now
    begins = (
        ("select", beside.chosen_at),
        ("notify", record.request.requested_at),
        ("ack", record.notified_at),
        ("save", record.accepted_at),
        ("suspend", None if halted is None else stop),
        ("drain", stop if halted is None else halted),
        ("release", None if record.phase is Phase.DRAINED else beside.drained_at),
    )
    reached = [(name, at) for name, at in begins if at is not None]
    ends = [at for _, at in reached[1:]] + [over]
    return tuple(
        Stage(name, at, max(at, end)) for (name, at), end in zip(reached, ends, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Work:
    """Running time that a request saved, and running time that was lost, in seconds."""

    saved_s: float = 0.0
    lost_s: float = 0.0


def work(record: Record, since: float, now: float) -> Work:
    """Return how much work, since the last checkpoint or start (`since`), was saved and lost.

    Work is lost from the last save to the stop; a workload that is not stopped loses none. The time
    of the save is reported by a pod, so it is bounded by `since` and the stop.
    """
    stop = record.suspended_at if record.suspended_at is not None else now
    stays = record.phase is Phase.CANCELLED
    if record.outcome is not SaveOutcome.SAVED:
        return Work() if stays else Work(lost_s=max(stop - since, 0.0))
    told = record.saved.at if record.saved is not None and record.saved.at is not None else stop
    at = min(max(told, since), max(stop, since))
    return Work(saved_s=at - since, lost_s=0.0 if stays else max(stop - at, 0.0))
