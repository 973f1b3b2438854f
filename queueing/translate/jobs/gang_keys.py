"""Which gang a job or a Workload is of; of a pod, its group, and what annotations say of that."""

from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta

_SUFFIX = " pods"


def gang_name(meta: Meta) -> str:
    """Return the gang that a Job, or a Workload, belongs to; empty when to none."""
    return meta.labels.get(labels.GANG, "")


def gang_key(meta: Meta) -> Key | None:
    """Return `namespace/gang`; None when it belongs to none."""
    name = meta.labels.get(labels.GANG)
    return Key(f"{meta.namespace}/{name}") if name else None


def gang_of(job: JobView) -> Key | None:
    """Return the gang that a job is a part of: of a pod, its group; None when it is of none."""
    return job.group or gang_key(job.metadata)


def gang_of_workload(workload: Meta) -> Key | None:
    """Return the gang that a Workload was made for; None when it is one job's."""
    marked = labels.IS_GROUP_WORKLOAD in workload.annotations
    return (group_of_workload(workload) if marked else None) or gang_key(workload)


def group_of(pod: Meta) -> str:
    """Return the name of a pod's group; empty without one. The annotation counts before a label."""
    name = labels.POD_GROUP
    return pod.annotations.get(name, "") or pod.labels.get(name, "")


def key_of_group(namespace: str, name: str) -> Key:
    """Return the key of a group, which no gang of Jobs has."""
    return Key(f"{namespace}/{name}{_SUFFIX}")


def is_of_pods(gang: Key) -> bool:
    """Say whether a gang is a group of pods."""
    return gang.endswith(_SUFFIX)


def workload_key(group: Key) -> Key:
    """Return the key of a group's Workload."""
    return Key(group.removesuffix(_SUFFIX))


def group_of_workload(workload: Meta) -> Key | None:
    """Return the key of the group that a Workload was made for; None for others."""
    if workload.annotations.get(labels.IS_GROUP_WORKLOAD) != "true":
        return None
    return key_of_group(workload.namespace, workload.name)


def is_queued_for_owner(pod: Meta) -> bool:
    """Say whether a pod is queued in the place of its owner, and not with it."""
    return labels.SUSPENDING_PARENT in pod.annotations


def total_count(pod: Meta) -> int | None:
    """Return how many pods its group has, by an annotation; None when that is no such number."""
    text = pod.annotations.get(labels.POD_GROUP_TOTAL, "")
    return int(text) if text.isdecimal() and int(text) > 0 else None


def is_fast(pod: Meta) -> bool:
    """Say whether the group is admitted when its first pod is there."""
    return pod.annotations.get(labels.POD_GROUP_FAST) == "true"


def is_serving(pod: Meta) -> bool:
    """Say whether the group runs for ever: pods that end are replaced."""
    return pod.annotations.get(labels.POD_GROUP_SERVING) == "true"


def is_unretriable(pod: Meta) -> bool:
    """Say whether the group ends when its pods have, however they did."""
    return pod.annotations.get(labels.RETRIABLE) == "false"
