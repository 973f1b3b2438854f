"""What changes between two snapshots, as further lines of one recording.

A recording that is followed holds facts without decisions: who came, who was admitted, who ended,
as often as it was looked at. What the engine decided is in a recording that began with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from queueing.core import facts
from queueing.core.facts import Gone, Kind
from queueing.core.topology.tree import Node
from queueing.recording.lines import RecordingError, line, read
from queueing.recording.recorder import OBSERVE

KINDS: Mapping[type, Kind] = MappingProxyType(
    {
        facts.WorkloadFact: Kind.WORKLOAD,
        facts.ClusterQueueFact: Kind.CLUSTER_QUEUE,
        facts.CohortFact: Kind.COHORT,
        facts.LocalQueueFact: Kind.LOCAL_QUEUE,
        facts.FlavorFact: Kind.FLAVOR,
        facts.CheckFact: Kind.CHECK,
        facts.TopologyFact: Kind.TOPOLOGY,
        Node: Kind.NODE,
        facts.NodeUsageFact: Kind.NODE_USAGE,
        facts.NodeDevicesFact: Kind.NODE_DEVICES,
        facts.NamespaceFact: Kind.NAMESPACE,
    }
)
"""Of what facts a snapshot is made."""


Known = tuple[type, str]
"""An object: of which facts it is one, and its key or name."""


@dataclass(slots=True)
class Following:
    """Turns snapshots, one after the other, into lines of one recording."""

    _begin: list[bytes] = field(default_factory=list)
    """The header of the last snapshot, and its settings."""
    _known: dict[Known, bytes] = field(default_factory=dict)
    """The lines of the last snapshot."""

    def lines(self, snapshot: bytes, source: str) -> Iterator[bytes]:
        """Yield what a snapshot says that the one before did not. Raises RecordingError.

        Of the first all is new, and so it is of one by which the controller has other settings:
        that begins anew under the same header. One of another version has no place in a recording.
        """
        parts = snapshot.splitlines(keepends=True)
        if not parts or not parts[-1].endswith(b"\n"):
            raise RecordingError(source, len(parts), "ends within a line")
        begin, before = parts[:2], self._begin
        if before and begin[0] != before[0]:
            problem = "is of another version of queueing than those before, which are kept"
            raise RecordingError(source, 1, problem)
        if begin != before:
            self._begin, self._known = begin, {}
            yield from begin[1:] if before else begin
        old, new = frozenset(self._known.values()), frozenset(parts)
        fresh = [one for one in parts[2:] if one not in old]
        changed: dict[Known, bytes] = {}
        told = read(iter([parts[0], *fresh]), source, any_version=True)
        for text, one in zip(fresh, told, strict=True):
            if one.event == OBSERVE:
                changed[_object_of(one.body)] = text
            yield text
        kept = {known: text for known, text in self._known.items() if text in new}
        gone = self._known.keys() - kept.keys() - changed.keys()
        for cls, name in sorted(gone, key=str):
            yield line(OBSERVE, Gone(KINDS[cls], name)).encode()
        self._known = kept | changed


def _object_of(fact: Any) -> Known:
    return type(fact), str(getattr(fact, "key", "") or fact.name)
