"""What marks the pods of a group: the names of the group, of its Workload and of their pod set."""

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.kinds.hooks import PodGroups
from queueing.kinds.jobs import DescribedJob
from queueing.kinds.registry import FRAMEWORKS, kind_of
from queueing.translate import labels
from queueing.translate.jobs.gang_keys import key_of_group
from queueing.translate.jobs.group_workload import GroupOfPods
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


def rules_of(pod: Meta) -> PodGroups | None:
    """Return how pods of the same owner form groups; None for pods that are queued one by one."""
    framework = pod.annotations.get(labels.SUSPENDING_PARENT, "")
    return kind_of(framework).hooks.pod_groups if framework in FRAMEWORKS else None


def owner_of(objects: Objects, pod: Meta) -> DescribedJob | None:
    """Return the object that a pod is queued for; None while it is not known, or is gone."""
    rules, above = rules_of(pod), pod.controller
    if rules is None or above is None:
        return None
    kind = kind_of(pod.annotations[labels.SUSPENDING_PARENT])
    name = pod.labels.get(rules.owner_label, "") if rules.owner_label else above.name
    found = objects.jobs.get(kind.names.key(f"{pod.namespace}/{name}"))
    if not isinstance(found, DescribedJob):
        return None
    is_it = rules.owner_label or found.metadata.uid == above.uid
    return found if is_it else None


def members(objects: Objects, namespace: str, group: str) -> list[PodJob]:
    """Return the pods that have the marks of a group."""
    keys: tuple[Key, ...] = objects.gangs.jobs[key_of_group(namespace, group)]
    found = (objects.jobs[key] for key in keys)
    return [one for one in found if isinstance(one, PodJob)]


def marks(pod: PodJob, job: DescribedJob, rules: PodGroups, group: GroupOfPods) -> MergePatch:
    """Return the patch that gives a pod the marks of its group.

    Names of Workloads are longer than values of labels may be, so they are annotations.
    """
    total = sum(one.count for one in job.pod_sets)
    role = job.pod_sets[0].name if len(job.pod_sets) == 1 else rules.role(pod.metadata)
    annotations = {
        labels.POD_GROUP: group.name,
        labels.PREBUILT_WORKLOAD: group.name,
        labels.POD_GROUP_TOTAL: str(total),
        labels.ROLE_HASH: role,
        **rules.annotations,
    }
    return MergePatch(body={"metadata": {"labels": queue_of(job), "annotations": annotations}})


def queue_of(job: DescribedJob) -> dict[str, str]:
    """Return the labels that pods have of their owner."""
    mine = job.metadata.labels
    return {name: mine[name] for name in (labels.QUEUE_NAME, labels.PRIORITY_CLASS) if name in mine}


def is_full(workload: Workload | None, marked: int) -> bool:
    """Say whether a group has as many pods as its Workload has quota for.

    A StatefulSet may be scaled past the rules about it, by its scale.
    """
    if workload is None:
        return False
    return marked >= sum(one.count for one in workload.spec.pod_sets)
