"""Where features take part in what happens to Jobs and Workloads.

A feature enters itself once the cluster has objects of it. Before, it is absent: nobody asks it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.translate.jobs.view import JobView
from queueing.translate.requests import Surroundings
from queueing.translate.wire.workloads import Workload

Hear = Callable[[Key], None]


@dataclass(slots=True)
class Features:
    """What the features of one term do, each list in the order in which they entered."""

    job_changed: list[Hear] = field(default_factory=list)
    """Told the key of a Job that changed, or is to be looked at again."""
    workload_changed: list[Hear] = field(default_factory=list)
    """Told the key of a Workload that changed, is deleted, or is to be looked at again."""
    facts: list[Callable[[Workload, WorkloadFact, Surroundings], WorkloadFact]] = field(
        default_factory=list
    )
    """Return the fact of a Workload with what the feature adds to it."""
    annotations: list[Callable[[JobView, Workload], Mapping[str, str]]] = field(
        default_factory=list
    )
    """Return annotations for the pods of a Job that starts."""
    started: list[Callable[[Workload, Sequence[JobView]], None]] = field(default_factory=list)
    """Told of Jobs that were started."""
