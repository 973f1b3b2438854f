"""QueueableKinds, with the fields that we read."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

import msgspec

from queueing.translate.wire.meta import Condition, Meta, Wire


class QueueableKindStatus(Wire, frozen=True):
    """Whether the kind is queued."""

    conditions: list[Condition] = []


class QueueableKind(Wire, frozen=True):
    """How objects of one kind are queued; the description is read by its model."""

    metadata: Meta
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: QueueableKindStatus = QueueableKindStatus()
