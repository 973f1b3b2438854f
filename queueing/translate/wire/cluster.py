"""Kubernetes' own objects that quota depends on."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from queueing.translate.wire.meta import Meta, Resources, Wire
from queueing_api.quantity import amount


class Namespace(Wire, frozen=True):
    """A namespace."""

    metadata: Meta


class LimitRangeItem(Wire, frozen=True):
    """Limits of one type: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: Resources = {}
    min: Resources = {}
    default: Resources = {}
    default_request: Resources = {}


class LimitRangeSpec(Wire, frozen=True):
    """Spec of a LimitRange."""

    limits: list[LimitRangeItem] = []


class LimitRange(Wire, frozen=True):
    """Defaults and bounds of the pods of a namespace."""

    metadata: Meta
    spec: LimitRangeSpec = LimitRangeSpec()


class Overhead(Wire, frozen=True):
    """`overhead` of a RuntimeClass."""

    pod_fixed: Resources = {}


class RuntimeClass(Wire, frozen=True):
    """A container runtime and what it costs per pod."""

    metadata: Meta
    overhead: Overhead = Overhead()

    def amounts(self) -> dict[str, int]:
        """Return what a pod of this class costs on top, in decision units."""
        return {name: amount(name, text) for name, text in self.overhead.pod_fixed.items()}


class PriorityClass(Wire, frozen=True):
    """Kubernetes' own pod priority."""

    metadata: Meta
    value: int = 0
    global_default: bool = False
