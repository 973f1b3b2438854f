"""What a start adds to pods so that they can save, and go on from what was saved."""

import secrets

from queueing.controller.checkpoints.effective import effective
from queueing.controller.objects import Objects
from queueing.core.checkpoints.terms import Driver
from queueing.translate.checkpoints import names
from queueing.translate.checkpoints.handover import handed_over
from queueing.translate.jobs import batch
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload

_KEY_BYTES = 16


def started_with(objects: Objects, job: Job, workload: Workload) -> dict[str, str]:
    """Return annotations for a Job's pods: the last checkpoint, and a key where they are called."""
    own = batch.template_of(job).metadata.annotations
    told = handed_over(objects.saves.last_saved(job.metadata.uid), own)
    found = effective(objects, workload, [job])
    if found.terms is not None and found.terms.driver is Driver.HTTP and names.KEY not in own:
        told[names.KEY] = secrets.token_hex(_KEY_BYTES)
    return told
