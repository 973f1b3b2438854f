"""Which descriptions objects are read by: one for each kind, until nothing needs it any more."""

from collections.abc import Callable, Iterator, Sequence

from queueing.controller.intake.kinds import Kinds
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.kinds.compiler import Kind
from queueing.translate import labels
from queueing.translate.jobs.composition import GroupKind


class InForce:
    """The descriptions in force in one term, by the names of their QueueableKinds."""

    def __init__(
        self, kinds: Kinds, objects: Objects, told: Callable[[Sequence[Kind]], None]
    ) -> None:
        self._kinds, self._objects, self._told = kinds, objects, told
        self._by_name: dict[Key, Kind] = {}

    def of(self, name: Key) -> Kind | None:
        """Return the description of a QueueableKind that is in force; None when none is."""
        return self._by_name.get(name)

    def holder(self, of: GroupKind) -> Key | None:
        """Return whose description of a kind is in force."""
        return next((name for name, kind in self._by_name.items() if _named(kind) == of), None)

    def take(self, name: Key, kind: Kind) -> Key | None:
        """Put a description in force; return whose other description it takes the place of."""
        before, holder = self._by_name.get(name), self.holder(_named(kind))
        if before is not None and before.spec == kind.spec:
            return None
        other = holder if holder != name else None
        if other is not None:
            del self._by_name[other]
        self._by_name[name] = kind
        self._kinds.activate(kind)
        self._told([*self._by_name.values()])
        return other

    def let_go(self, name: Key) -> None:
        """Queue no objects by a description any more."""
        before = self._by_name.pop(name, None)
        if before is not None:
            self._kinds.retire(_named(before))
            self._told([*self._by_name.values()])

    def are_followed(self, of: GroupKind) -> bool:
        """Say whether objects of a kind are known, so that one may just be getting a Workload."""
        return any(one.kind.group_kind == of for one in self._objects.jobs.values())

    def in_need(self, of: GroupKind) -> Iterator[Key]:
        """Yield the Workloads that can come to an end only while a kind is described.

        They are of an object of the kind, or of a gang that has one.
        """
        for key, workload in self._objects.workloads.items():
            meta = workload.metadata
            owners = (one.group_kind for one in meta.owner_references)
            if labels.RESOURCE_IN_USE in meta.finalizers and of in owners:
                yield key


def _named(kind: Kind) -> GroupKind:
    return kind.names.group_kind
