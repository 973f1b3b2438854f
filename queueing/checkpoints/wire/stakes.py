"""What stopping a workload would cost, from its terms and its past requests."""

from collections.abc import Sequence

from queueing.checkpoints.rules.learning import learned, restart_s
from queueing.checkpoints.rules.record import Record
from queueing.checkpoints.rules.terms import Terms
from queueing.core.stakes import Stake
from queueing.translate.wire.workloads import Workload

RESTART_S = 60.0
"""What the start of a run costs where it was not seen."""


def stake(workload: Workload, terms: Terms, records: Sequence[Record]) -> Stake:
    """Return what is at stake in a workload; the records are of this life, the oldest first."""
    found = learned(records)
    admitted, ready = (
        workload.status.true_since("Admitted"),
        workload.status.true_since("PodsReady"),
    )
    return Stake(
        saves=found.saves,
        started=admitted,
        saved_at=found.saved_at,
        save_s=terms.save_s if found.save_s is None else found.save_s,
        restart_s=restart_s(admitted or 0.0, ready, usual_s=RESTART_S),
        minimum_runtime_s=terms.minimum_runtime_s,
        movable=terms.movable,
    )
