"""Which devices a request could be allocated, and why not the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.selectors import untolerated
from queueing.devices.rules.index import Device
from queueing.devices.rules.messages import (
    CapacityLack,
    DeviceRefusal,
    aborts,
    class_not_found,
    invalid,
    none_meets,
)
from queueing.devices.rules.requests import Way
from queueing.devices.rules.selector import MatchAnswer, MatchVerdict, selector

Classes = Mapping[str, tuple[str, ...]]
"""Selectors of each DeviceClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingDevices:
    """The devices that one way of a request matches, and what excludes the others."""

    devices: tuple[Device, ...] = ()
    looked_at: int = 0
    refusal: DeviceRefusal | None = None
    """Why none of them can be allocated, whatever their number."""
    doubts: tuple[str, ...] = ()
    """What could not be evaluated here, so that devices count as matching; a sentence each."""
    short: tuple[CapacityLack, ...] = ()
    """Capacities that every device of the class has too little of."""
    unmet: str = ""
    """The selector that excluded the last device, when none is left; a sentence."""
    tainted: tuple[str, ...] = ()
    """A taint's key per device that would match but for a taint which nobody tolerates."""


def candidates(way: Way, devices: Sequence[Device], classes: Classes) -> MatchingDevices:
    """Return the devices of a way's class that meet its selectors, taints and capacities."""
    if way.device_class not in classes:
        return MatchingDevices(looked_at=len(devices), refusal=class_not_found(way.device_class))
    of_class = classes[way.device_class]
    doubts: dict[str, None] = {}
    kept: list[Device] = []
    short: dict[str, CapacityLack] = {}
    tainted: list[str] = []
    sieve = _Sieve((*of_class, *way.selectors))
    for device in devices:
        if device.broken:
            return MatchingDevices(
                looked_at=len(devices), refusal=aborts(device.name, device.broken)
            )
        chosen, refusal = sieve.judge(device, doubts)
        if refusal is not None:
            return MatchingDevices(looked_at=len(devices), refusal=refusal)
        if not chosen:
            continue
        taint = untolerated(device.taints, way.tolerations)
        if taint is not None:
            tainted.append(taint.key)
            continue
        lacking = _lacking(way, device)
        if lacking is not None:
            most = max(lacking, short.get(lacking.capacity, lacking), key=lambda one: one.found)
            short[lacking.capacity] = most
            continue
        kept.append(device)
    return MatchingDevices(
        devices=tuple(kept),
        looked_at=len(devices),
        doubts=tuple(doubts),
        short=() if kept else tuple(short.values()),
        unmet="" if kept or short or tainted else sieve.unmet,
        tainted=tuple(tainted),
    )


@dataclass(slots=True)
class _Sieve:
    """Selectors that devices must meet one after the other."""

    expressions: tuple[str, ...]
    _met: Counter[int] = field(default_factory=Counter)
    """How many devices came to each selector, by its position."""

    def judge(self, device: Device, doubts: dict[str, None]) -> tuple[bool, DeviceRefusal | None]:
        """Say whether a device meets all, and whether the scheduler would give up at it."""
        for at, expression in enumerate(self.expressions):
            self._met[at] += 1
            verdict: MatchVerdict = selector(expression).judge(device.variables)
            match verdict.answer:
                case MatchAnswer.NO:
                    return False, None
                case MatchAnswer.ABORTS:
                    return False, aborts(device.name, verdict.why, verdict.missing)
                case MatchAnswer.INVALID:
                    return False, invalid(expression, verdict.why)
                case MatchAnswer.UNSUPPORTED:
                    doubts[f"{verdict.why}, so every device is taken to match: {expression}"] = None
                case MatchAnswer.YES:
                    pass
        return True, None

    @property
    def unmet(self) -> str:
        """Name the selector that no device got past; empty when no device came to any."""
        last = max(self._met, default=None)
        return "" if last is None else none_meets(self.expressions[last], self._met[last])


def _lacking(way: Way, device: Device) -> CapacityLack | None:
    """Return the capacity of which a device has too little; None when it has enough."""
    for name, asked in way.capacity.items():
        found = device.capacity.get(name)
        if found is None or asked > found.value or found.consumed(asked) is None:
            return CapacityLack(capacity=name, found=found.value if found else 0, asked=asked)
    return None
