"""Patches of concurrent admission: of a parent, by the variant that it runs by, and of variants."""

from queueing.translate.labels import VARIANT_GATE, VARIANT_PARENT
from queueing.translate.outbound.conditions import conditions_of, forgive, patch
from queueing.translate.outbound.workloads import BLOCKED
from queueing.translate.times import timestamp
from queueing.translate.wire.workloads import Workload


def mark_parent(workload: Workload) -> bytes:
    """Label a Workload as one that is admitted through variants."""
    return patch(workload.metadata, {"metadata": {"labels": {VARIANT_PARENT: "true"}}})


def admit_through(parent: Workload, variant: Workload, admission: object, now: float) -> bytes:
    """Give a parent the admission of a variant, as it is stored."""
    conditions = conditions_of(parent, now)
    message = f"The variant {variant.metadata.name} is admitted"
    for kind in ("QuotaReserved", "Admitted"):
        conditions.set(kind, true=True, reason=kind, message=message)
    forgive(conditions)
    if not conditions.is_true("Requeued"):
        conditions.drop("Requeued")
    status = {"admission": admission, "conditions": conditions.wire()}
    return patch(parent.metadata, {"status": status})


def move(parent: Workload, admission: object) -> bytes:
    """Give a parent the admission of the variant that it runs by, as it is stored, once more."""
    return patch(parent.metadata, {"status": {"admission": admission}})


def mirror(variant: Workload, parent: Workload, now: float) -> bytes:
    """Tell a variant whether the pods of its parent, which runs by it, are ready."""
    conditions = conditions_of(variant, now)
    ready = parent.status.condition("PodsReady")
    if ready is not None:
        is_true = ready.status == "True"
        conditions.set("PodsReady", true=is_true, reason=ready.reason, message=ready.message)
    return patch(variant.metadata, {"status": {"conditions": conditions.wire()}})


def open_gate(variant: Workload, now: float) -> bytes:
    """Open the preemption gate of a variant."""
    conditions = conditions_of(variant, now)
    if conditions.is_true(BLOCKED):
        conditions.set(
            BLOCKED,
            true=False,
            reason="PreemptionUngated",
            message="The preemption gate is open",
        )
    gate = {"name": VARIANT_GATE, "position": "Open", "lastTransitionTime": timestamp(now)}
    status = {"preemptionGates": [gate], "conditions": conditions.wire()}
    return patch(variant.metadata, {"status": status})
