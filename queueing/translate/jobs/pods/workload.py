"""The Workload of a group of pods, and what keeps its pods from having one."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from queueing.translate import labels
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.gang_keys import is_fast, total_count
from queueing.translate.jobs.pods.roles import role_hash
from queueing.translate.jobs.pods.view import PodJob

ROLES_MAX = 18


def compose(
    name: str, pods: Sequence[PodJob], priority: Priority, labels_to_copy: Sequence[str]
) -> bytes:
    """Return the Workload to create: every pod owns it, and there is a pod set for each role."""
    metas = [one.metadata for one in pods]
    notes = {**gang_workload.annotations(metas), labels.IS_GROUP_WORKLOAD: "true"}
    copied = gang_workload.common_labels(metas, labels_to_copy)
    fields = gang_workload.following(pods, priority)
    return gang_workload.body_of(
        {"name": name, "labels": copied, "annotations": notes},
        {"podSets": pod_sets(pods), **fields},
        pods,
    )


def pod_sets(pods: Sequence[PodJob]) -> list[dict[str, Any]]:
    """Return a pod set for each role, sorted by name, with the template of its first pod."""
    first = pods[0]
    if is_fast(first.metadata):
        (one,) = first.wire_pod_sets()
        return [{**one, "count": total_count(first.metadata) or len(pods)}]
    found: dict[str, dict[str, Any]] = {}
    for pod in pods:
        known = found.get(pod.role)
        if known is None:
            (found[pod.role],) = pod.wire_pod_sets()
        else:
            known["count"] += 1
    return [found[role] for role in sorted(found)]


def problem_of(pods: Sequence[PodJob]) -> str:
    """Say why pods of one group, at least one, cannot have a Workload as they are; else nothing."""
    return next(filter(None, (check(pods) for check in _CHECKS)), "")


def count_problem(pods: Sequence[PodJob]) -> str:
    """Say which pod has no count, or another one."""
    first = pods[0].metadata
    for meta in (one.metadata for one in pods):
        text = meta.annotations.get(labels.POD_GROUP_TOTAL, "")
        if total_count(meta) is None:
            return (
                f"failed to extract '{labels.POD_GROUP_TOTAL}' annotation from the pod"
                f" '{meta.name}': {text!r} is no number greater than zero"
            )
        if text != first.annotations[labels.POD_GROUP_TOTAL]:
            wanted = first.annotations[labels.POD_GROUP_TOTAL]
            return (
                f"pods '{first.name}' and '{meta.name}' has different"
                f" '{labels.POD_GROUP_TOTAL}' values: {wanted}!={text}"
            )
    return ""


def _missing(pods: Sequence[PodJob]) -> str:
    first = pods[0]
    if is_fast(first.metadata) or len(pods) >= (total_count(first.metadata) or 0):
        return ""
    group = labels.POD_GROUP
    name = first.metadata.annotations.get(group) or first.metadata.labels.get(group)
    return (
        f"'{name}' group has fewer runnable pods than expected:"
        f" {len(pods)} of {total_count(first.metadata)} ({labels.POD_GROUP_TOTAL})"
    )


def _queue_problem(pods: Sequence[PodJob]) -> str:
    first, wanted = pods[0].metadata, _queue(pods[0])
    for one in pods:
        if _queue(one) != wanted:
            return (
                f"pods '{first.name}' and '{one.metadata.name}' has different queue names:"
                f" {wanted}!={_queue(one)}"
            )
    return ""


def _queue(pod: PodJob) -> str:
    return pod.metadata.labels.get(labels.QUEUE_NAME, "")


def _role_problem(pods: Sequence[PodJob]) -> str:
    """Say which pods have one role by what users wrote, but not the same shape."""
    seen: dict[str, dict[str, str]] = defaultdict(dict)
    for one in pods:
        if labels.ROLE_HASH in one.metadata.annotations:
            shape = role_hash(one.pod_sets[0].encoded_template)
            seen[one.role].setdefault(shape, one.metadata.name)
    for role, shapes in seen.items():
        if len(shapes) > 1:
            first, other, *_ = shapes.values()
            return (
                f"pods '{first}' and '{other}' have different shapes, but both the role {role!r}"
                f" in metadata.annotations[{labels.ROLE_HASH}]"
            )
    if len({one.role for one in pods}) > ROLES_MAX:
        return f"pod group can't include more than {ROLES_MAX} roles"
    return ""


def _rank_problem(pods: Sequence[PodJob]) -> str:
    """Say that the first pod has a number in the group that none can have, as Kueue does."""
    total, meta = total_count(pods[0].metadata) or len(pods), pods[0].metadata
    text = meta.labels.get(labels.POD_RANK)
    if text is None or (text.isdecimal() and int(text) < total):
        return ""
    told = f"incorrect label value {text!r} for Pod '{meta.key}' ({labels.POD_RANK}): "
    if not text.isdecimal():
        return f"{told}invalid unsigned integer"
    return f"{told}validation error: value should be less than {total}"


_CHECKS = (count_problem, _missing, _queue_problem, _rank_problem, _role_problem)
