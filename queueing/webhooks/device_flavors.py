"""DeviceFlavor: what its definition says too, and that its selectors are expressions."""

from collections.abc import Iterator

from queueing.translate.devices.cel.selector import Answer, Verdict, selector
from queueing.webhooks.findings import Finding, Wire, dig, entries, invalid, of_definition

PLAIN = ("Native", "Class")
EXAMPLE = "80Gi"
"""What stands for a value of a trait while its selector is checked."""
BEYOND_CLASS = (
    "strategies Native and Class can express a class only: put selectors into the DeviceClass,"
    " or use Inject"
)


def check_device_flavor(flavor: Wire) -> list[Finding]:
    """Return all that is wrong with a DeviceFlavor."""
    return [
        finding
        for index, one in enumerate(entries(flavor, "spec", "resources"))
        for finding in _resource(one, f"spec.resources[{index}]")
    ]


def _resource(one: Wire, path: str) -> Iterator[Finding]:
    request = one.get("request") or {}
    yield from of_definition(_charge(one, path))
    yield from of_definition(_strategy(one, request, path))
    for position, item in enumerate(entries(request, "selectors")):
        expression = dig(item, "cel", "expression")
        yield from _expression(expression, f"{path}.request.selectors[{position}].cel.expression")
    for name, trait in sorted((one.get("traits") or {}).items()):
        yield from _trait(trait, f"{path}.traits[{name}]")


def _strategy(one: Wire, request: Wire, path: str) -> Iterator[Finding]:
    """Refuse what the strategy of a resource cannot express."""
    strategy = one.get("strategy") or "Inject"
    if strategy != "Native" and not request.get("deviceClassName"):
        told = "request.deviceClassName must be set unless strategy is Native"
        yield invalid(f"{path}.request", "", told)
    if strategy in PLAIN:
        if any(name in request for name in ("selectors", "tolerations", "capacityPerUnit")):
            yield invalid(f"{path}.request", strategy, BEYOND_CLASS)
        if "traits" in one or "config" in one:
            told = "strategies Native and Class can express neither traits nor config"
            yield invalid(f"{path}.strategy", strategy, told)
    if strategy != "Inject":
        if (one.get("sharing") or "None") != "None":
            told = "sharing PerPodSet needs strategy Inject"
            yield invalid(f"{path}.sharing", one.get("sharing"), told)
        if one.get("computeDomain") is not None:
            told = "a ComputeDomain needs strategy Inject: its channel is given to pods"
            yield invalid(f"{path}.computeDomain", strategy, told)


def _charge(one: Wire, path: str) -> Iterator[Finding]:
    charge = one.get("charge")
    if not isinstance(charge, dict):
        return
    kind, name = charge.get("type") or "Devices", charge.get("name") or ""
    if (kind == "Devices") == bool(name):
        told = "name must be set with type Counter or Capacity, and with no other"
        yield invalid(f"{path}.charge.name", name, told)
    if kind != "Devices" and charge.get("allMatching") is not None:
        told = "allMatching counts devices: it needs type Devices"
        yield invalid(f"{path}.charge.allMatching", charge["allMatching"], told)


def _trait(trait: Wire, path: str) -> Iterator[Finding]:
    given = [one for one in ("selector", "matchAttribute", "distinctAttribute") if trait.get(one)]
    if len(given) != 1:
        told = "exactly one of selector, matchAttribute and distinctAttribute must be set"
        yield from of_definition([invalid(path, ", ".join(given), told)])
    if expression := trait.get("selector"):
        yield from _expression(expression.replace("{value}", EXAMPLE), f"{path}.selector")


def _expression(expression: object, path: str) -> Iterator[Finding]:
    """Refuse an expression that the API server would refuse in a claim."""
    refusal: Verdict | None = selector(str(expression or "")).refusal
    if refusal is not None and refusal.answer is Answer.INVALID:
        yield invalid(path, expression, refusal.why)
