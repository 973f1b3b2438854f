"""What a pod set asks of a topology, and the placement that it was given."""

from typing import Annotated

from pydantic import Field

from queueing_api.marks import ATOMIC, ONE_PROPERTY
from queueing_api.wire import Count, Int32, Wire

TopologyKey = Annotated[str, Field(min_length=1, max_length=316)]
DomainValue = Annotated[str, Field(min_length=1, max_length=63)]
Positive = Annotated[Int32, Field(ge=1)]


class SliceTopologyConstraint(Wire):
    """Slices of pods that must stay together in one domain."""

    topology: TopologyKey
    """Topology level whose domains must hold each slice as a whole."""
    size: Positive
    """Pods of a slice; must divide the size of the layer above evenly."""


class PodSetTopologyRequest(Wire):
    """How close together the pods of a set are to be placed."""

    required: TopologyKey | None = None
    """Topology level in one domain of which all pods must be placed."""
    preferred: TopologyKey | None = None
    """Topology level in one domain of which the pods should be placed; if they do not fit, the
    next wider levels are tried."""
    unconstrained: bool | None = None
    """Whether any placement will do, as long as the pods fit the nodes."""
    pod_index_label: str | None = None
    """Pod label that holds the number of a pod; ranks are placed in its order."""
    sub_group_index_label: str | None = None
    """Pod label that holds the number of a pod's subgroup, for jobs made of several groups."""
    sub_group_count: Count | None = None
    """Subgroups of the pod set."""
    pod_set_group_name: str | None = None
    """Name shared by pod sets that must be placed together."""
    pod_set_slice_required_topology: TopologyKey | None = None
    """Topology level in one domain of which each slice of the pod set must be placed."""
    pod_set_slice_size: Int32 | None = None
    """Pods of a slice."""
    podset_slice_required_topology_constraints: Annotated[
        list[SliceTopologyConstraint], Field(max_length=3), ATOMIC
    ] = Field(default_factory=list)
    """Slices within slices, the widest first."""


class IndividualValues(Wire):
    """A value for each domain, without the text that all have in common."""

    prefix: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Text that all values begin with."""
    suffix: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Text that all values end with."""
    roots: Annotated[
        list[Annotated[str, Field(max_length=63)]], Field(min_length=1, max_length=100000), ATOMIC
    ]
    """What stands between prefix and suffix, one entry per domain."""


class SliceLevelValues(Wire):
    """The values of one level for the domains of a slice: exactly one of its fields."""

    universal: DomainValue | None = None
    """One value that all domains of the slice have."""
    individual: IndividualValues | None = None
    """A value for each domain."""


class SlicePodCounts(Wire):
    """The pods in each domain of a slice: exactly one of its fields."""

    universal: Positive | None = None
    """One number that all domains of the slice have."""
    individual: Annotated[list[Positive], Field(min_length=1, max_length=100000), ATOMIC] | None = (
        None
    )
    """A number for each domain."""


class TopologyAssignmentSlice(Wire):
    """A run of domains, stored in columns so that large placements stay small."""

    domain_count: Annotated[Int32, Field(ge=1, le=100000)]
    """Domains of this slice."""
    values_per_level: Annotated[
        list[Annotated[SliceLevelValues, ONE_PROPERTY]],
        Field(min_length=1, max_length=16),
        ATOMIC,
    ]
    """Values of the domains, one entry per level of the assignment."""
    pod_counts: Annotated[SlicePodCounts, ONE_PROPERTY]
    """Pods in each domain."""


class TopologyAssignment(Wire):
    """The domains that the pods of a set are placed in."""

    levels: Annotated[list[TopologyKey], Field(min_length=1, max_length=16), ATOMIC]
    """Node labels that name a domain, from the widest level to the narrowest used."""
    slices: Annotated[list[TopologyAssignmentSlice], Field(max_length=1000), ATOMIC]
    """The domains and the number of pods in each; none where all pods are part of no whole slice.
    """
