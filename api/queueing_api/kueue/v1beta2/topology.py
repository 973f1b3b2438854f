"""Topology: the levels in which the nodes of a data center are grouped."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import Wire

NodeLabelKey = Annotated[str, Field(min_length=1, max_length=316)]


class TopologyLevel(Wire):
    """One level of a topology."""

    node_label: NodeLabelKey
    """Node label whose value names the domain of this level, for example a block or a rack.
    kubernetes.io/hostname may be the lowest level only."""


class TopologySpec(Wire):
    """How nodes are grouped."""

    levels: Annotated[list[TopologyLevel], Field(min_length=1, max_length=16), ATOMIC]
    """Levels from the widest to the narrowest, each with its own label. They can change only
    where kubernetes.io/hostname is the lowest level before and after."""


class Topology(KubeObject):
    """The levels in which the nodes of a data center are grouped."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["Topology"] = "Topology"
    spec: TopologySpec
    """How nodes are grouped."""
