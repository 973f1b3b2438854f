"""What to expect of a workload's next request, from past ones: whether it saves, and how fast."""

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.checkpoints.rules.record import Record, SaveOutcome

NEWEST = 0.5
"""Weight of the newest observation in the moving average."""
STALE_MAX = 3
"""After so many requests in a row without progress, a workload counts as not saving."""
FAILED_MAX = 2
"""After so many requests in a row that failed, a workload counts as not saving."""
_LOST = frozenset({SaveOutcome.UNRESPONSIVE, SaveOutcome.FAILED})


@dataclass(frozen=True, slots=True)
class Learned:
    """What to expect of a workload that is asked to save; times in seconds."""

    saves: bool
    save_s: float | None = None
    """The moving average from request to stop; None if it was never measured."""
    saved_at: float | None = None
    """When it last saved."""


def learned(records: Sequence[Record]) -> Learned:
    """Return what the requests to one workload, the oldest first, let expect."""
    over = [one for one in records if one.outcome is not None]
    save_s: float | None = None
    saved_at: float | None = None
    for one in over:
        if one.outcome is not SaveOutcome.SAVED or one.saved is None:
            continue
        saved_at = max(saved_at or 0.0, one.saved.at or 0.0)
        if one.suspended_at is not None:
            took_s = max(one.suspended_at - one.request.requested_at, 0.0)
            save_s = took_s if save_s is None else NEWEST * took_s + (1.0 - NEWEST) * save_s
    saves = not (_repeats_itself(over) or _keeps_failing(over))
    return Learned(saves=saves, save_s=save_s, saved_at=saved_at)


def restart_s(started: float, ready_at: float | None, *, usual_s: float) -> float:
    """Return how long a run took from its start until all its pods were ready."""
    if ready_at is None or ready_at < started:
        return usual_s
    return ready_at - started


def _repeats_itself(over: Sequence[Record]) -> bool:
    """Say whether the last `STALE_MAX` answers showed no progress.

    If all have a step, only another step is progress, because a time alone is easily made up.
    """
    last = [one.saved for one in over[-STALE_MAX:]]
    if len(last) < STALE_MAX or any(one is None for one in last):
        return False
    told = [one for one in last if one is not None]
    if all(one.step is not None for one in told):
        return len({one.step for one in told}) == 1
    return len({(one.uri, one.step, one.at) for one in told}) == 1


def _keeps_failing(over: Sequence[Record]) -> bool:
    last = over[-FAILED_MAX:]
    return len(last) == FAILED_MAX and all(one.outcome in _LOST for one in last)
