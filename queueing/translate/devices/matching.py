"""Which devices a request could be given, and why not the others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from queueing.core.selectors import untolerated
from queueing.translate.devices.cel.selector import Answer, Verdict, selector
from queueing.translate.devices.index import Device
from queueing.translate.devices.messages import Refusal, aborts, class_not_found, invalid
from queueing.translate.devices.requests import Way

Classes = Mapping[str, tuple[str, ...]]
"""Selectors of each DeviceClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The devices that a way matches among those it was held against."""

    devices: tuple[Device, ...] = ()
    looked_at: int = 0
    refusal: Refusal | None = None
    """Why none of them can be had, whatever their number."""
    doubts: tuple[str, ...] = ()
    """What was not evaluated, so that devices were counted in; a sentence each."""
    short: tuple[str, ...] = ()
    """Capacities that every device of the class has too little of."""
    tainted: tuple[str, ...] = ()
    """A taint's key per device that would match but for a taint which nobody tolerates."""


def candidates(way: Way, devices: Sequence[Device], classes: Classes) -> Candidates:
    """Hold a way against devices: those of its class, chosen, tolerated and large enough."""
    if way.device_class not in classes:
        return Candidates(looked_at=len(devices), refusal=class_not_found(way.device_class))
    of_class = classes[way.device_class]
    doubts: dict[str, None] = {}
    kept: list[Device] = []
    short: dict[str, None] = {}
    tainted: list[str] = []
    for device in devices:
        if device.broken:
            return Candidates(looked_at=len(devices), refusal=aborts(device.name, device.broken))
        chosen, refusal = _chosen((*of_class, *way.selectors), device, doubts)
        if refusal is not None:
            return Candidates(looked_at=len(devices), refusal=refusal)
        if not chosen:
            continue
        taint = untolerated(device.taints, way.tolerations)
        if taint is not None:
            tainted.append(taint.key)
            continue
        lacking = _lacking(way, device)
        if lacking:
            short[lacking] = None
            continue
        kept.append(device)
    return Candidates(
        devices=tuple(kept),
        looked_at=len(devices),
        doubts=tuple(doubts),
        short=() if kept else tuple(short),
        tainted=tuple(tainted),
    )


def _chosen(
    expressions: Iterable[str], device: Device, doubts: dict[str, None]
) -> tuple[bool, Refusal | None]:
    for expression in expressions:
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


def _lacking(way: Way, device: Device) -> str:
    """Return the capacity of which a device has too little; empty when it has enough."""
    for name, asked in way.capacity.items():
        found = device.capacity.get(name)
        if found is None or asked > found.value or found.consumed(asked) is None:
            return name
    return ""
