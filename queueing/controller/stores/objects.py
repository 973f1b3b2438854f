"""All objects that a term watches, as they were last seen, with indexes to find them.

Plain memory: the handlers of watch events fill it, the reconcilers read it. An object is replaced
as a whole and never changed in place.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

from queueing.checkpoints.memory import CheckpointMemory
from queueing.controller.stores.indexes import Entries, Entry, GangMembers, Index
from queueing.controller.stores.workload_counts import WorkloadCounts
from queueing.core.facts import WorkloadFact
from queueing.core.names import CohortName, Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.translate.jobs.composition import GroupKind, JobKind, prebuilt_name
from queueing.translate.jobs.gang_keys import gang_of, gang_of_workload
from queueing.translate.jobs.view import JobView
from queueing.translate.labels import GANG, IS_GROUP_WORKLOAD, JOB_OWNER_NAME, JOB_UID
from queueing.translate.requests import Amounts, LimitSummary, summarize
from queueing.translate.wire.cluster import LimitRange, Namespace, PriorityClass, RuntimeClass
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    ResourceFlavor,
    Topology,
    WorkloadPriorityClass,
)
from queueing.translate.wire.workloads import Workload


def owner_uids(meta: Meta) -> Iterable[str]:
    """Return the uids of the Jobs that a Workload belongs to.

    By its controller reference; by its labels too, because the reference is taken away when a Job
    is deleted and its dependents are orphaned.
    """
    uids: dict[str, None] = {}
    for owner in meta.owner_references:
        if owner.controller:
            uids[owner.uid] = None
    marked = meta.labels.get(JOB_UID)
    if marked and meta.annotations.get(JOB_OWNER_NAME):
        uids[marked] = None
    return uids


@dataclass(slots=True)
class Objects:
    """All objects: namespaced ones by key (`namespace/name`), the others by name."""

    jobs: dict[Key, JobView] = field(default_factory=dict)
    """Objects of all kinds that are queued, by `JobView.key`."""
    workloads: dict[Key, Workload] = field(default_factory=dict)
    facts: dict[Key, WorkloadFact] = field(default_factory=dict)
    """The fact of each Workload, as it was last translated."""
    local_queues: dict[Key, LocalQueue] = field(default_factory=dict)
    limit_ranges: dict[Key, LimitRange] = field(default_factory=dict)
    cluster_queues: dict[str, ClusterQueue] = field(default_factory=dict)
    cohorts: dict[str, Cohort] = field(default_factory=dict)
    flavors: dict[str, ResourceFlavor] = field(default_factory=dict)
    checks: dict[str, AdmissionCheck] = field(default_factory=dict)
    topologies: dict[str, Topology] = field(default_factory=dict)
    places_pods: bool = False
    """Whether it matters, or did, for any flavor which nodes there are."""
    namespaces: dict[str, Namespace] = field(default_factory=dict)
    runtime_classes: dict[str, RuntimeClass] = field(default_factory=dict)
    priority_classes: dict[str, PriorityClass] = field(default_factory=dict)
    workload_priority_classes: dict[str, WorkloadPriorityClass] = field(default_factory=dict)
    workloads_by_owner: Index[str] = field(default_factory=Index)
    workloads_by_namespace: Index[str] = field(default_factory=Index)
    workloads_by_queue: Index[Key] = field(default_factory=Index)
    holders_by_queue: Index[str] = field(default_factory=Index)
    """Workloads by the ClusterQueue of their admission."""
    jobs_by_namespace: Index[str] = field(default_factory=Index)
    jobs_by_owner: Index[str] = field(default_factory=Index)
    jobs_by_prebuilt: Index[Key] = field(default_factory=Index)
    """Jobs by the prebuilt Workload that their label names."""
    job_keys: dict[str, Key] = field(default_factory=dict)
    """Key of each Job by its uid."""
    kinds: dict[GroupKind, JobKind] = field(default_factory=dict)
    """Kinds of jobs that are queued, or were."""
    external: dict[GroupKind, JobKind] = field(default_factory=dict)
    """Kinds that are served and that another controller queues."""
    workload_keys: dict[str, Key] = field(default_factory=dict)
    """Key of each Workload by its uid."""
    gangs: GangMembers = field(default_factory=GangMembers)
    checkpoints: CheckpointMemory = field(default_factory=CheckpointMemory)
    """Checkpoints, their policies, and the pods that are asked."""
    devices: DeviceMemory = field(default_factory=DeviceMemory)
    """Rules, hardware, and the templates and claims for it."""
    workload_counts: WorkloadCounts = field(default_factory=WorkloadCounts)
    """Numbers of Workloads by queue and state, for metrics."""

    _workload_entries: Entries = field(default_factory=Entries)
    _job_entries: Entries = field(default_factory=Entries)

    def put_workload(self, found: Workload) -> Key:
        """Store a Workload in place of the one seen before, and index it; return its key."""
        meta, key = found.metadata, found.metadata.key
        before = self.workloads.get(key)
        if before is not None and before.metadata.uid != meta.uid:
            self.workload_keys.pop(before.metadata.uid, None)
            self.facts.pop(key, None)
        self.workloads[key] = found
        self.workload_keys[meta.uid] = key
        entries: list[Entry] = [*zip(repeat(self.workloads_by_owner), owner_uids(meta))]
        entries.append((self.workloads_by_namespace, meta.namespace))
        entries.append((self.workloads_by_queue, found.local_queue))
        if found.status.admission is not None:
            entries.append((self.holders_by_queue, found.status.admission.cluster_queue))
        in_gang = GANG in meta.labels or IS_GROUP_WORKLOAD in meta.annotations
        if in_gang and (gang := gang_of_workload(meta)) is not None:
            entries += self.gangs.entries_of_workload(found, gang)
        self._workload_entries.put(key, entries)
        return key

    def drop_workload(self, key: Key) -> None:
        """Forget a deleted Workload."""
        found = self.workloads.pop(key, None)
        self.workload_counts.drop(key)
        self.facts.pop(key, None)
        if found is not None:
            self.workload_keys.pop(found.metadata.uid, None)
            self._workload_entries.drop(key)
            self.gangs.forget_workload(key)

    def put_job(self, found: JobView) -> None:
        """Store a Job in place of the one seen before, and index it."""
        meta, key = found.metadata, found.key
        before = self.jobs.get(key)
        if before is not None and before.metadata.uid != meta.uid:
            self._forget_job(before)
        self.jobs[key] = found
        self.job_keys[meta.uid] = key
        entries: list[Entry] = [(self.jobs_by_namespace, meta.namespace)]
        named = prebuilt_name(meta)
        if named:
            entries.append((self.jobs_by_prebuilt, Key(f"{meta.namespace}/{named}")))
        entries += [(self.jobs_by_owner, owner.uid) for owner in meta.owner_references]
        in_gang = GANG in meta.labels or found.group is not None
        if in_gang and (gang := gang_of(found)) is not None:
            entries.append(self.gangs.entry_of_job(found, gang))
        elif before is not None:
            self.gangs.forget_job(meta.uid)
        self._job_entries.put(key, entries)

    def drop_job(self, key: Key) -> None:
        """Forget a deleted Job."""
        found = self.jobs.pop(key, None)
        if found is not None:
            self._job_entries.drop(key)
            self._forget_job(found)

    def _forget_job(self, found: JobView) -> None:
        self.job_keys.pop(found.metadata.uid, None)
        self.gangs.forget_job(found.metadata.uid)

    def workloads_of(self, uid: str) -> list[Workload]:
        """Return the Workloads that belong to a Job, given by uid, the oldest first."""
        keys = self.workloads_by_owner.groups.get(uid, ())
        found = list(map(self.workloads.__getitem__, keys))
        if len(found) > 1:
            found.sort(key=lambda one: (one.metadata.created, one.metadata.name))
        return found

    def workloads_for(self, uid: str) -> list[Workload]:
        """Return the Workloads of a job, given by uid: its own, and those of its gang."""
        held = [self.workloads[key] for key in self.gangs.workloads_holding(uid)]
        return [*self.workloads_of(uid), *held]

    def owners_of(self, workload: Workload) -> list[JobView]:
        """Return the Jobs that own a Workload: one, or the members of a gang."""
        keys = (self.job_keys.get(owner.uid) for owner in workload.metadata.owner_references)
        return [self.jobs[key] for key in keys if key is not None]

    def cohorts_above(self, queue: str) -> list[CohortName]:
        """Return the cohorts above a ClusterQueue, its own first; a cycle is followed once."""
        found = self.cluster_queues.get(queue)
        return self.cohorts_from(found.spec.cohort_name if found is not None else "")

    def cohorts_from(self, cohort: str) -> list[CohortName]:
        """Return a cohort and those above it; none if it is empty."""
        path: dict[CohortName, None] = {}
        while cohort and CohortName(cohort) not in path:
            path[CohortName(cohort)] = None
            found = self.cohorts.get(cohort)
            cohort = found.spec.parent_name if found is not None else ""
        return list(path)

    def concerned_by(self, queue: str) -> Iterator[Key]:
        """Yield the Workloads of a ClusterQueue's LocalQueues, and those that hold quota of it.

        A Workload that is both is yielded twice.
        """
        for local in self.local_queues.values():
            if local.spec.cluster_queue == queue:
                yield from self.workloads_by_queue[local.metadata.key]
        yield from self.holders_by_queue[queue]

    def limits_in(self, namespace: str) -> LimitSummary:
        """Return the LimitRanges of a namespace, combined."""
        return summarize(
            one for one in self.limit_ranges.values() if one.metadata.namespace == namespace
        )

    def overheads(self) -> dict[str, Amounts]:
        """Return the pod overhead of each RuntimeClass, in the integer units of the engine."""
        return {name: one.amounts() for name, one in self.runtime_classes.items()}
