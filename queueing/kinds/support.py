"""Which descriptions the controller follows, of those that objects can be read by."""

from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec


def not_supported(spec: QueueableKindSpec) -> str:
    """Say which field of a description the controller cannot follow; empty without one.

    Objects with several Workloads would be charged for one.
    """
    if spec.suspend.field is None:
        return (
            "spec.suspend: only kinds with a field that suspends them are queued by a description"
        )
    if spec.groups is not None:
        return "spec.groups: an object has one Workload; kinds with several are not queued"
    return ""
