"""Which devices a request could be allocated, and why not the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.selectors import untolerated
from queueing.devices.rules.index import Device
from queueing.devices.rules.messages import (
    Lack,
    Refusal,
    aborts,
    class_not_found,
    invalid,
    none_meets,
)
from queueing.devices.rules.requests import Way
from queueing.devices.rules.selector import Answer, Verdict, selector

Classes = Mapping[str, tuple[str, ...]]
"""Selectors of each DeviceClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The devices that one way of a request matches, and what excludes the others."""

    devices: tuple[Device, ...] = ()
    looked_at: int = 0
    refusal: Refusal | None = None
    """Why none of them can be allocated, whatever their number."""
    doubts: tuple[str, ...] = ()
    """What could not be evaluated here, so that devices count as matching; a sentence each."""
    short: tuple[Lack, ...] = ()
    """Capacities that every device of the class has too little of."""
    unmet: str = ""
    """The selector that excluded the last device, when none is left; a sentence."""
    tainted: tuple[str, ...] = ()
    """A taint's key per device that would match but for a taint which nobody tolerates."""


def candidates(way: Way, devices: Sequence[Device], classes: Classes) -> Candidates:
    """Return the devices of a way's class that meet its selectors, taints and capacities."""
    if way.device_class not in classes:
        return Candidates(looked_at=len(devices), refusal=class_not_found(way.device_class))
    of_class = classes[way.device_class]
    doubts: dict[str, None] = {}
    kept: list[Device] = []
    short: dict[str, Lack] = {}
    tainted: list[str] = []
    sieve = _Sieve((*of_class, *way.selectors))
    for device in devices:
        if device.broken:
            return Candidates(looked_at=len(devices), refusal=aborts(device.name, device.broken))
        chosen, refusal = sieve.judge(device, doubts)
        if refusal is not None:
            return Candidates(looked_at=len(devices), refusal=refusal)
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
    return Candidates(
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

    def judge(self, device: Device, doubts: dict[str, None]) -> tuple[bool, Refusal | None]:
        """Say whether a device meets all, and whether the scheduler would give up at it."""
        for at, expression in enumerate(self.expressions):
            self._met[at] += 1
            verdict: Verdict = selector(expression).judge(device.variables)
            match verdict.answer:
                case Answer.NO:
                    return False, None
                case Answer.ABORTS:
                    return False, aborts(device.name, verdict.why, verdict.missing)
                case Answer.INVALID:
                    return False, invalid(expression, verdict.why)
                case Answer.UNSUPPORTED:
                    doubts[f"{verdict.why}, so every device is taken to match: {expression}"] = None
                case Answer.YES:
                    pass
        return True, None

    @property
    def unmet(self) -> str:
        """Name the selector that no device got past; empty when no device came to any."""
        last = max(self._met, default=None)
        return "" if last is None else none_meets(self.expressions[last], self._met[last])


def _lacking(way: Way, device: Device) -> Lack | None:
    """Return the capacity of which a device has too little; None when it has enough."""
    for name, asked in way.capacity.items():
        found = device.capacity.get(name)
        if found is None or asked > found.value or found.consumed(asked) is None:
            return Lack(capacity=name, found=found.value if found else 0, asked=asked)
    return None
