"""What flavors' devices are to those who ask for them: facts, without any device."""

from dataclasses import dataclass

from queueing.core.names import FlavorName, ResourceName


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOffer:
    """What a flavor's devices are to pods that ask for one shape of devices."""

    amount: int = 0
    """What one pod is charged of the resource that the shape counts as."""
    problem: str = ""
    """Why these devices cannot serve the pods; empty when they can."""
    pods_max: int | None = None
    """Pods that all of the flavor's devices together could serve; None sets no bound."""
    together: bool = False
    """Whether all pods of a set share what one is charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAsk:
    """Devices that a pod asks for, as far as flavors differ in them."""

    resource: ResourceName
    """What they are charged as; `requests` of the pod set already counts `units` of it."""
    shape: str
    """Key of the offers of flavors."""
    units: int = 0
    needs_offer: bool = False
    """Whether a flavor without an offer for the shape cannot serve it."""
    undivided: frozenset[FlavorName] = frozenset()
    """Flavors in which all pods of a set use one claim of their own: it is held as long as any of
    them runs, so that none takes a part of the charge along."""
    claim: str = ""
    """Uid of the one claim that all pods use, and that others may use, too: then it is nothing else
    that they ask of the resource, and it is charged once. Empty where it is charged to each."""
