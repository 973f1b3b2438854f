"""The answer about the racks and nodes of a flavor, one domain at a time."""

import msgspec

from queueing.explain.part import API_VERSION, AnswerPart


class Seat(AnswerPart, frozen=True, kw_only=True):
    """A workload with pods in a domain."""

    workload: str
    """`namespace/name`."""
    cluster_queue: str
    priority: int
    pods: int
    """How many of its pods are there."""
    uses: dict[str, str] = msgspec.field(default_factory=dict)
    """What those use, by resource of the pod that is asked about."""
    leaving: bool
    """Whether it is evicted, or its place is only promised to it."""


class Domain(AnswerPart, frozen=True, kw_only=True):
    """A block, a rack, a node: what is free in it, and who sits there."""

    name: str
    nodes: int
    """Those that share a hostname count once."""
    free: dict[str, str]
    """By resource of the pod that is asked about."""
    room: dict[str, str]
    """The same, with what placed workloads use: what other pods leave."""
    fits: int
    """How many such pods fit now."""
    seats: tuple[Seat, ...]
    """Who has pods there, those with most of them first, at most ten."""
    seats_in_all: int


class ResourceFlavorExplanation(
    AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="ResourceFlavorExplanation"
):
    """The domains of a flavor's topology below one domain, in the order of their names."""

    api_version: str = API_VERSION
    flavors: tuple[str, ...]
    """All flavors that have a topology."""
    name: str
    """Empty where just these are asked for."""
    topologies: tuple[str, ...] = ()
    """Those of the flavor: its own, and then those by which its nodes are nearer to each other."""
    topology: str
    """The one that the others tell of."""
    levels: tuple[str, ...]
    """Labels of nodes, from the widest level to the narrowest."""
    domain: tuple[str, ...]
    """The domain that the others are in, with those that it is in; empty for the first level."""
    pod: dict[str, str]
    """What one pod asks for: a device where there are some, else a cpu."""
    offset: int
    in_all: int
    domains: tuple[Domain, ...]
    """At most 500."""
