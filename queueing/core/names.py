"""Names that must not be mixed up: each is a string with a meaning of its own."""

from typing import NamedTuple, NewType

Key = NewType("Key", str)
"""`namespace/name` of a namespaced object."""

Uid = NewType("Uid", str)
"""`metadata.uid`: one life of one object."""

QueueName = NewType("QueueName", str)
"""Name of a ClusterQueue."""

CohortName = NewType("CohortName", str)
FlavorName = NewType("FlavorName", str)
ResourceName = NewType("ResourceName", str)
CheckName = NewType("CheckName", str)
PodSetName = NewType("PodSetName", str)


class FlavorResource(NamedTuple):
    """What quota is counted in: one resource of one flavor."""

    flavor: FlavorName
    resource: ResourceName


def namespace_of(key: Key) -> str:
    """Return the namespace part of a key."""
    return key.partition("/")[0]


def name_of(key: Key) -> str:
    """Return the name part of a key."""
    return key.partition("/")[2]
