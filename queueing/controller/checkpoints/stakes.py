"""What stopping a running workload would cost, from its policy and its past Checkpoints."""

from queueing.controller.checkpoints.effective import effective
from queueing.controller.checkpoints.observing import condition, owners
from queueing.controller.objects import Objects
from queueing.core.checkpoints.learning import learned, restart_s
from queueing.core.stakes import Stake
from queueing.translate.wire.workloads import Workload

RESTART_S = 60.0
"""What the start of a run costs where it was not seen."""


def stake_of(objects: Objects, workload: Workload) -> Stake | None:
    """Return what is at stake in a workload that holds quota; None where no policy speaks of it."""
    saves = objects.saves
    if not saves.policies or condition(workload, "QuotaReserved") is None:
        return None
    jobs = owners(objects, workload)
    terms = effective(objects, saves, workload, jobs).terms
    if terms is None:
        return None
    records = [
        one.record for one in saves.of_workload(workload.metadata.key, workload.metadata.uid)
    ]
    found = learned(records)
    admitted, ready = condition(workload, "Admitted"), condition(workload, "PodsReady")
    started = admitted.changed if admitted is not None else None
    return Stake(
        saves=found.saves,
        started=started,
        saved_at=found.saved_at,
        save_s=terms.save_s if found.save_s is None else found.save_s,
        restart_s=restart_s(
            started or 0.0, ready.changed if ready is not None else None, usual_s=RESTART_S
        ),
        minimum_runtime_s=terms.minimum_runtime_s,
    )
