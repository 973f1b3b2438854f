"""What waits to be looked at in a term: keys, by what they are keys of.

Whoever learns that an object changed adds its key here, and knows nothing of who looks at it.

A feature enters itself into `Features` once the cluster has objects of it. Before, it is absent:
nobody asks it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.devices.wire.realisation import PodChanges
from queueing.kube.backoff import Backoff
from queueing.kube.workqueue import WorkQueue
from queueing.translate.jobs.view import JobView
from queueing.translate.requests import Surroundings
from queueing.translate.wire.workloads import CheckState, Workload

Hear = Callable[[Key], None]


@dataclass(slots=True)
class Features:
    """What the features of one term add to what happens to Jobs and Workloads.

    Each list is in the order in which they entered.
    """

    looks: list[Callable[[Key], Awaitable[bool]]] = field(default_factory=list)
    """Do what is due for an object by its key, and say whether that was all: else it is a job, and
    looked at as one. Raise KubeError to be called again."""
    job_changed: list[Hear] = field(default_factory=list)
    """Told the key of a Job that changed, or is to be looked at again."""
    workload_changed: list[Hear] = field(default_factory=list)
    """Told the key of a Workload that changed, is deleted, or is to be looked at again."""
    facts: list[Callable[[Workload, WorkloadFact, Surroundings], WorkloadFact]] = field(
        default_factory=list
    )
    """Return the fact of a Workload with what the feature adds to it."""
    annotations: list[Callable[[JobView, Mapping[str, str], Workload], Mapping[str, str]]] = field(
        default_factory=list
    )
    """Return annotations for pods of a job that starts, beside those that their template has."""
    checks: list[Callable[[Workload], Sequence[CheckState]]] = field(default_factory=list)
    """Return admission checks whose updates concern pods of a job that starts by a Workload, beside
    those of that."""
    starts: list[Callable[[JobView, Workload], Awaitable[PodChanges]]] = field(default_factory=list)
    """Create what the pods of a Job need before it is started, by a Workload with one of its pod
    sets; return the changes of the pod template that name it."""
    started: list[Callable[[Workload, Sequence[JobView]], None]] = field(default_factory=list)
    """Told of Jobs that were started."""
    holds: list[Callable[[Workload], bool]] = field(default_factory=list)
    """Say whether something of a Workload is still in use, and its quota with it."""


GANG_PATIENCE = Backoff(0.02, 5.0)
"""Seconds between attempts at a gang whose writes fail, first and longest: a gang of which only
some Jobs run must soon be completed or stopped."""


class WorkQueues:
    """The queues of one term, and two events that wake loops."""

    def __init__(self) -> None:
        self.jobs: WorkQueue[Key] = WorkQueue()
        self.gangs: WorkQueue[Key] = WorkQueue(GANG_PATIENCE)
        """Gangs of several Jobs: `namespace/name`."""
        self.workloads: WorkQueue[Key] = WorkQueue()
        self.variants: WorkQueue[Key] = WorkQueue()
        """Workloads that have variants, or are to get them."""
        self.claims: WorkQueue[Key] = WorkQueue()
        """Workloads by uid, whose claims and templates are to be looked at."""
        self.checkpoints: WorkQueue[Key] = WorkQueue()
        """Workloads whose requests to save are to be looked at."""
        self.checkpoint_policies: WorkQueue[Key] = WorkQueue()
        self.queueable_kinds: WorkQueue[Key] = WorkQueue()
        """Descriptions of kinds, by name."""
        self.nodes: WorkQueue[Key] = WorkQueue()
        self.idle: WorkQueue[Key] = WorkQueue()
        """Workloads with pods that are idle, or were."""
        self.cycle = asyncio.Event()
        """Set when the engine got a fact, so that a cycle may decide something."""
        self.finalizers = asyncio.Event()
        """Set when finalizers of queues and flavors may have to be added or removed."""
        self.features = Features()

    def job(self, key: Key) -> None:
        """Ask for a Job to be looked at, and tell the features."""
        self.jobs.add(key)
        for hear in self.features.job_changed:
            hear(key)

    def workload(self, key: Key) -> None:
        """Ask for a Workload to be looked at, and tell the features."""
        self.workloads.add(key)
        for hear in self.features.workload_changed:
            hear(key)

    def gang(self, key: Key) -> None:
        """Ask for a gang of several Jobs to be looked at."""
        self.gangs.add(key)

    def close(self) -> None:
        """Cancel the timers of all queues."""
        for one in vars(self).values():
            if isinstance(one, WorkQueue):
                one.close()


class Unattended(WorkQueues):
    """For who only watches: nothing is looked at."""

    @override
    def job(self, key: Key) -> None: ...

    @override
    def workload(self, key: Key) -> None: ...

    @override
    def gang(self, key: Key) -> None: ...
