"""What a start adds to pods, so that they can save and resume from what was saved."""

import secrets
from collections.abc import Mapping, Sequence

from queueing.checkpoints.rules.terms import Driver
from queueing.checkpoints.shell.effective_terms import effective
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire.pods import handed_over
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from queueing_api.config.duration import duration_text

_KEY_BYTES = 16
USUAL_GRACE_S = 30
"""Default of a pod's `terminationGracePeriodSeconds`."""


def started_with(
    objects: Objects, job: JobView, own: Mapping[str, str], workload: Workload
) -> dict[str, str]:
    """Return annotations for pods of a job: the last checkpoint and, for HTTP, a signing key.

    `own` are the annotations that their template has.
    """
    told = handed_over(objects.checkpoints.last_saved(job.metadata.uid), own)
    found = effective(objects, workload, [job])
    if found.terms is not None and found.terms.driver is Driver.HTTP and names.KEY not in own:
        told[names.KEY] = secrets.token_hex(_KEY_BYTES)
    return told


def warn_of_grace(
    objects: Objects, events: Events, workload: Workload, jobs: Sequence[JobView]
) -> None:
    """Record an Event on Jobs whose pods are killed before the terms' grace period is over."""
    found = effective(objects, workload, jobs)
    if found.terms is None:
        return
    for job in jobs:
        own = [one.template.spec.termination_grace_period_seconds for one in job.pod_sets]
        grace_s = min(USUAL_GRACE_S if one is None else one for one in own)
        if found.terms.grace_s > grace_s:
            promised = duration_text(found.terms.grace_s)
            said = (
                f"CheckpointPolicy {found.policy}: terminationGrace {promised} is longer than"
                f" terminationGracePeriodSeconds of the pods, by which they are killed: {grace_s}"
            )
            events.job(job, "CheckpointGraceTooLong", said, warning=True)
