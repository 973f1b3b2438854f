"""Finds out from pods and their Events why an admitted Workload's pods lack their devices."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.devices.rules.messages import QUOTA_IS_FULL, DeviceReason
from queueing.devices.wire.names import GATE, INJECT
from queueing.translate.wire.meta import Condition, Meta, Wire
from queueing.translate.wire.pods import PodClaim

FAILED_CLAIM = "FailedResourceClaimCreation"
"""Reason of the event that says why a pod has no claim yet."""


class Gate(Wire, frozen=True):
    """A scheduling gate."""

    name: str = ""


class PodSpec(Wire, frozen=True):
    """What keeps a pod from being scheduled, and what it waits for."""

    scheduling_gates: list[Gate] = []
    resource_claims: list[PodClaim] = []
    node_name: str = ""


class PodStatus(Wire, frozen=True):
    """How far a pod is."""

    phase: str = ""
    conditions: list[Condition] = []
    resource_claim_statuses: list[PodClaim] = []
    """Claims that were made for it."""


class Pod(Wire, frozen=True):
    """A pod, read for why it waits."""

    metadata: Meta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodEvent(Wire, frozen=True):
    """An event, as the core API has it."""

    metadata: Meta
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Delay:
    """Why pods wait."""

    reason: DeviceReason
    text: str


NOT_STARTED = Delay(
    DeviceReason.POLICY_MISSING,
    "Its start waits: a pod that was created for trial got no claim. See that the"
    " MutatingAdmissionPolicy queueing-inject-claims and its binding are there, or before"
    " Kubernetes 1.36 that webhooks are installed and answer; the log of the controller says more",
)


def waits_for_devices(pod: Pod) -> bool:
    """Say whether a pod is on no node yet, and is to have devices by a claim."""
    claims = pod.spec.resource_claims or INJECT in pod.metadata.labels
    return bool(claims) and not pod.spec.node_name and pod.status.phase in ("", "Pending")


def lacks_a_claim(pod: Pod) -> bool:
    """Say whether a claim was not made yet for a pod: events say why."""
    made = {one.name for one in pod.status.resource_claim_statuses}
    named = (one.name for one in pod.spec.resource_claims if not one.resource_claim_name)
    return not _is_gated(pod) and any(name not in made for name in named)


def delay_of(pods: Sequence[Pod], events: Sequence[PodEvent], view: str) -> Delay | None:
    """Return why pods of a Job wait for devices; None when none does.

    `events` are those about pods that lack a claim. `view` is what we know of free devices.
    """
    waiting = [one for one in pods if waits_for_devices(one)]
    if not waiting:
        return None
    count = f"{len(waiting)} of {len(pods)} pod(s)"
    gated = [one for one in waiting if _is_gated(one)]
    if gated:
        return Delay(DeviceReason.POLICY_MISSING, _without_policy(len(gated), len(pods)))
    said = [one.message for one in events if one.reason == FAILED_CLAIM]
    said += [text for one in waiting if (text := _scheduler_says(one))]
    full = next((text for text in said if QUOTA_IS_FULL in text), "")
    if full:
        text = f"{count} get no devices, for a ResourceQuota of the namespace is exhausted: {full}"
        return Delay(DeviceReason.NAMESPACE_QUOTA, text)
    why = said[0] if said else "nobody has said why yet"
    return Delay(DeviceReason.NOT_ALLOCATED, f"{count} wait for their devices: {why}; {view}")


def _is_gated(pod: Pod) -> bool:
    return any(one.name == GATE for one in pod.spec.scheduling_gates)


def _scheduler_says(pod: Pod) -> str:
    found = (one for one in pod.status.conditions if one.type == "PodScheduled")
    return next((one.message for one in found if one.status == "False"), "")


def left_gated(pods: Sequence[Pod], controller: str) -> list[Pod]:
    """Return pods that came without their claims, and were never on a node.

    Of those that an object with this uid controls, or with an empty one any object: it makes new
    ones. A pod that exists can be given no claim any more.
    """
    return [one for one in pods if _is_left_gated(one, controller)]


def _is_left_gated(pod: Pod, controller: str) -> bool:
    owners = {one.uid for one in pod.metadata.owner_references if one.controller}
    never_bound = not pod.spec.node_name and pod.status.phase in ("", "Pending")
    controlled = controller in owners if controller else bool(owners)
    ours = INJECT in pod.metadata.labels and controlled
    return ours and never_bound and _is_gated(pod) and not pod.metadata.deleting


def made_anew(gone: int, pods: int) -> Delay:
    """Say that pods were deleted because they came without their claims."""
    return Delay(
        DeviceReason.REMADE,
        f"{gone} of {pods} pod(s) had kept the scheduling gate {GATE}, for nothing gave them their"
        " claims when they were created; they were deleted, and the Job makes new ones",
    )


def _without_policy(gated: int, pods: int) -> str:
    return (
        f"{gated} of {pods} pod(s) keep the scheduling gate {GATE}: nothing gave them their claims"
        " when they were created. The controller puts the MutatingAdmissionPolicy"
        " queueing-inject-claims and its binding there again (before Kubernetes 1.36 the webhook"
        " for pods), and then has these pods made anew. See in its log what keeps it from that"
    )
