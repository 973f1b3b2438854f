"""Elastic jobs that are scaled through what they own: autoscalers edit the RayCluster of a RayJob.

Then the job's own spec does not say how many pods there are, but that of its cluster does.
"""

from dataclasses import replace

import msgspec

from queueing.controller.stores.objects import Objects
from queueing.translate.jobs.view import JobView


def as_scaled(job: JobView, objects: Objects) -> tuple[JobView, str]:
    """Return an elastic job with as many pods as it has, and what tells its slices apart.

    That is its generation, with those of the clusters that it owns.
    """
    generation = str(job.metadata.generation)
    names = {one.name for one in job.pod_sets}
    owned = () if job.suspended else objects.jobs_by_owner.groups.get(job.metadata.uid, ())
    clusters = [
        one
        for one in map(objects.jobs.__getitem__, sorted(owned))
        if one.pod_sets and names.issuperset(two.name for two in one.pod_sets)
    ]
    if not clusters:
        return job, generation
    counts: dict[str, int] = {}
    for one in (two for cluster in clusters for two in cluster.pod_sets):
        counts[one.name] = max(counts.get(one.name, 0), one.count)
    pod_sets = tuple(
        msgspec.structs.replace(one, count=counts.get(one.name, one.count)) for one in job.pod_sets
    )
    # A cluster that takes the place of another one counts its generations anew.
    told = (generation, *(f"{one.metadata.uid}.{one.metadata.generation}" for one in clusters))
    return replace(job, pod_sets=pod_sets), "_".join(told)
