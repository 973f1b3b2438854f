"""CheckpointPolicy and Checkpoint: what their definitions say beyond the schema.

As with credits, each rule stands in the definition, too, with the same words.
"""

from queueing.translate.checkpoints.inbound import faults
from queueing.translate.checkpoints.wire import PolicySpec
from queueing.translate.inbound.manifests import read
from queueing.webhooks.findings import Finding, Wire, immutable, invalid, of_definition


def check_checkpoint_policy(policy: Wire) -> list[Finding]:
    """Return all that is wrong with a CheckpointPolicy that its schema let in."""
    spec = read(PolicySpec, policy.get("spec") or {})
    found = (
        invalid(f"spec.{one.field}", _blamed(spec, one.field), one.rule) for one in faults(spec)
    )
    return list(of_definition(found))


def check_checkpoint(checkpoint: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a Checkpoint: what was asked never changes."""
    spec = checkpoint.get("spec") or {}
    changed = old is not None and spec != (old.get("spec") or {})
    found = [immutable("spec", spec)] if changed else []
    return list(of_definition(found))


def _blamed(spec: PolicySpec, field: str) -> object:
    """Return the value of a field that breaks a rule, or the choice that needs the absent one."""
    names = dict(zip(spec.__struct_encode_fields__, spec.__struct_fields__, strict=True))
    value: object = getattr(spec, names[field])
    if value is not None:
        return value
    return spec.answer_from if field == "leader" else spec.driver
