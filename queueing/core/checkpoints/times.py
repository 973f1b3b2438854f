"""How long the parts of a request took, and how much work it saved and cost: for those who look."""

from dataclasses import dataclass

from queueing.core.checkpoints.phases import Phase
from queueing.core.checkpoints.record import Outcome, Record


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a request, from one moment to another, in seconds since the epoch."""

    name: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What a request does not store, so that a new leader does not know it; epoch seconds."""

    chosen_at: float | None = None
    """When it was decided that the workload is a victim."""
    halted_at: float | None = None
    """When all of its Jobs were suspended."""
    drained_at: float | None = None
    """When its last pod was gone."""


UNKNOWN = Moments()


def stages(record: Record, now: float, beside: Moments = UNKNOWN) -> tuple[Stage, ...]:
    """Return the stages that a request went through by now: from select to release.

    A stage that was not reached, or of which nobody knows when it began, is missing; one that was
    cut short ends where the next begins.
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
    """Running time that a request saved, and that was lost all the same; in seconds."""

    saved_s: float = 0.0
    lost_s: float = 0.0


def work(record: Record, since: float, now: float) -> Work:
    """Measure the work since the last checkpoint or start that a request saved and lost.

    Work is lost from the last save to the stop; whoever stays loses nothing. When something was
    saved is the word of a pod, so it is taken between the two.
    """
    stop = record.suspended_at if record.suspended_at is not None else now
    stays = record.phase is Phase.CANCELLED
    if record.outcome is not Outcome.SAVED:
        return Work() if stays else Work(lost_s=max(stop - since, 0.0))
    told = record.saved.at if record.saved is not None and record.saved.at is not None else stop
    at = min(max(told, since), max(stop, since))
    return Work(saved_s=at - since, lost_s=0.0 if stays else max(stop - at, 0.0))
