"""DeviceFlavor: what no expression can say, that its selectors are expressions."""

from collections.abc import Iterator

from queueing.devices.rules.selector import MatchAnswer, MatchVerdict, selector
from queueing.webhooks.findings import Finding, Wire, dig, entries

EXAMPLE = "80Gi"
"""What stands for a value of a trait while its selector is checked."""


def bad_selectors(flavor: Wire) -> Iterator[Finding]:
    """Yield the selectors of a DeviceFlavor that the API server would refuse in a claim."""
    for index, one in enumerate(entries(flavor, "spec", "resources")):
        path = f"spec.resources[{index}]"
        for position, item in enumerate(entries(one, "request", "selectors")):
            where = f"{path}.request.selectors[{position}].cel.expression"
            yield from _expression(dig(item, "cel", "expression"), where)
        for name, trait in sorted((one.get("traits") or {}).items()):
            if expression := trait.get("selector"):
                example = expression.replace("{value}", EXAMPLE)
                yield from _expression(example, f"{path}.traits[{name}].selector")


def _expression(expression: object, path: str) -> Iterator[Finding]:
    refusal: MatchVerdict | None = selector(str(expression or "")).refusal
    if refusal is not None and refusal.answer is MatchAnswer.INVALID:
        yield Finding(path=path, value=expression, message=refusal.why)
