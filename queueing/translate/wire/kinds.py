"""QueueableKinds, with the fields that we read."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

import msgspec

from queueing.translate.wire.meta import Condition, Meta, Wire


class _Resource(Wire, frozen=True):
    group: str = ""
    kind: str = ""


class _Spec(Wire, frozen=True):
    resource: _Resource = _Resource()


_described = msgspec.json.Decoder(_Spec)


class QueueableKindStatus(Wire, frozen=True):
    """Whether the kind is queued."""

    conditions: list[Condition] = []
    in_use: msgspec.Raw = msgspec.Raw(b"null")
    """The description that objects are read by."""


class QueueableKind(Wire, frozen=True):
    """How objects of one kind are queued; the description is read by its model."""

    metadata: Meta
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: QueueableKindStatus = QueueableKindStatus()

    @property
    def group_kind(self) -> tuple[str, str]:
        """Group and kind of what it describes, which cannot be changed."""
        named = _described.decode(self.spec).resource
        return named.group, named.kind
