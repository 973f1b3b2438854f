"""What the devices of a flavor offer for requests of one shape: facts, without single devices."""

from dataclasses import dataclass

from queueing.core.names import FlavorName, ResourceName

INADMISSIBLE = "Inadmissible"
"""The reason of `Requeued=False` of a Workload for which the cluster has too few devices."""
UNSUPPORTED = "UnsupportedDeviceRequest"
"""Why a workload is deactivated whose pods cannot share the devices that they ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOffer:
    """What a flavor's devices offer to pods that request one shape of devices."""

    amount: int = 0
    """What one pod is charged of the resource that the shape counts as."""
    problem: str = ""
    """Why these devices cannot serve the pods; empty if they can."""
    pods_max: int | None = None
    """How many pods all devices of the flavor together could serve; None sets no bound."""
    together: bool = False
    """Whether all pods of a pod set share the devices, and so the charge, of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAsk:
    """A pod's request for devices, as far as flavors may differ in serving it."""

    resource: ResourceName
    """What they are charged as; `requests` of the pod set already counts `units` of it."""
    shape: str
    """Key of the offers in `FlavorFact.devices`."""
    units: int = 0
    needs_offer: bool = False
    """Whether a flavor without an offer for the shape cannot serve it."""
    undivided: frozenset[FlavorName] = frozenset()
    """Flavors in which all pods of a pod set use one claim of their own. It is charged whole as
    long as any of them runs."""
    claim: str = ""
    """Uid of a ResourceClaim that all pods use, and other workloads may use, too. Then the pods
    request nothing else of the resource, and it is charged once. Empty if each pod is charged."""
