"""Where pods are to run: domains of a topology, and how many pods each gets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.core.names import FlavorName, ResourceName

HOSTNAME = "kubernetes.io/hostname"
"""The level whose domains are single nodes, if it is the lowest."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A number of pods in one domain; `values` are its labels, one per level of the assignment."""

    values: tuple[str, ...]
    count: int

    @property
    def key(self) -> str:
        """Which leaf of a tree it is: the hostname, or the values of all levels."""
        return ",".join(self.values)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A pod set's `topologyAssignment`. Ranks of pods follow the order of the domains.

    `levels` is the hostname alone where the lowest level is single nodes, else all levels.
    """

    levels: tuple[str, ...]
    domains: tuple[Domain, ...]

    @property
    def count(self) -> int:
        """How many pods have a domain. Pods beyond the last whole slice have none."""
        return sum(one.count for one in self.domains)

    def any_of(self, count: int) -> "Assignment":
        """Return all places where so many of the pods may be, whichever of them are left.

        Those can be more places than pods: in no domain there are more than `count`.
        """
        kept = (Domain(one.values, min(one.count, count)) for one in self.domains)
        return Assignment(self.levels, tuple(one for one in kept if one.count > 0))

    def beyond(self, before: "Assignment | None") -> "Assignment":
        """Return the places that were not there before."""
        had = {} if before is None else {one.key: one.count for one in before.domains}
        more = [Domain(one.values, one.count - had.get(one.key, 0)) for one in self.domains]
        return Assignment(self.levels, tuple(one for one in more if one.count > 0))

    def usage(
        self, requests: Iterable[tuple[ResourceName, int]]
    ) -> Mapping[str, dict[ResourceName, int]]:
        """Return what pods with these requests use of each leaf, by the leaf's key."""
        asked = tuple(requests)
        found: dict[str, dict[ResourceName, int]] = {}
        for domain in self.domains:
            mine = found.setdefault(domain.key, {})
            for resource, amount in asked:
                mine[resource] = mine.get(resource, 0) + amount * domain.count
        return found


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What the pods of a workload use of the leaves of a topology.

    `flavors` are those of the pod set, of which one has that topology; `hosts` says whether its
    leaves are single nodes. `usage` is by the key of the leaf.
    """

    flavors: tuple[FlavorName, ...]
    hosts: bool
    usage: Mapping[str, Mapping[ResourceName, int]]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Pods for which there is no place now, and why, in Kueue's words."""

    reason: str
