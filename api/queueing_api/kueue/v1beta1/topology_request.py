"""Placement as v1beta1 spells it: one entry per domain, no slices within slices."""

from typing import Annotated

from pydantic import Field

from queueing_api.kueue.v1beta2.topology_request import DomainValue, Positive, TopologyKey
from queueing_api.marks import ATOMIC
from queueing_api.wire import Count, Int32, Wire


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


class TopologyDomainAssignment(Wire):
    """The pods in one domain."""

    values: Annotated[list[DomainValue], Field(min_length=1, max_length=16), ATOMIC]
    """Values of the assignment's levels that name the domain."""
    count: Positive
    """Pods in the domain."""


class TopologyAssignment(Wire):
    """The domains that the pods of a set are placed in."""

    levels: Annotated[list[TopologyKey], Field(min_length=1, max_length=16), ATOMIC]
    """Node labels that name a domain, from the widest level to the narrowest used."""
    domains: Annotated[list[TopologyDomainAssignment], Field(max_length=100000), ATOMIC]
    """The domains and the number of pods in each."""
