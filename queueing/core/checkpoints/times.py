"""How long the parts of a request took, and how much work it saved and cost: for those who look."""

from dataclasses import dataclass

from queueing.core.checkpoints.record import Outcome, Record


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a request, from one moment to another, in seconds since the epoch."""

    name: str
    began: float
    ended: float


def stages(record: Record, now: float) -> tuple[Stage, ...]:
    """Return the stages that a request went through by now: notify, ack, save, drain.

    A stage that was not reached is missing; one that was cut short ends where the next begins.
    """
    stop = record.suspended_at
    over = record.ended_at if record.ended_at is not None else now
    asked_until = stop if stop is not None else over
    begins = (
        ("notify", record.request.requested_at),
        ("ack", record.notified_at),
        ("save", record.accepted_at),
        ("drain", stop),
    )
    reached = [(name, at) for name, at in begins if at is not None]
    ends = [at for _, at in reached[1:]] + [over if stop is not None else asked_until]
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
    stays = record.phase == "Cancelled"
    if record.outcome is not Outcome.SAVED:
        return Work() if stays else Work(lost_s=max(stop - since, 0.0))
    told = record.saved.at if record.saved is not None and record.saved.at is not None else stop
    at = min(max(told, since), max(stop, since))
    return Work(saved_s=at - since, lost_s=0.0 if stays else max(stop - at, 0.0))
