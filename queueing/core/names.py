"""Types for names, so that type checkers tell them apart: each is a string at run time."""

from typing import NamedTuple, NewType

Key = NewType("Key", str)
"""`namespace/name` of a namespaced object."""

Uid = NewType("Uid", str)
"""`metadata.uid`: differs if an object is deleted and created again."""

QueueName = NewType("QueueName", str)
"""Name of a ClusterQueue."""

CohortName = NewType("CohortName", str)
FlavorName = NewType("FlavorName", str)
ResourceName = NewType("ResourceName", str)
CheckName = NewType("CheckName", str)
PodSetName = NewType("PodSetName", str)


class FlavorResource(NamedTuple):
    """The unit of quota: one resource of one flavor, such as `cpu` of `on-demand`."""

    flavor: FlavorName
    resource: ResourceName


def namespace_of(key: Key) -> str:
    """Return the namespace part of a key."""
    return key.partition("/")[0]


def name_of(key: Key) -> str:
    """Return the name part of a key."""
    return key.partition("/")[2]
