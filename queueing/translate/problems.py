"""Collects what is wrong with an object that the API server nevertheless accepted."""

import json
from collections.abc import Iterable
from fractions import Fraction

from queueing.translate.wire.meta import Quantity, Resources
from queueing_api.quantity import NANO_PER_UNIT, QuantityError, amount, approximate, parse


class Problems:
    """Collects sentences; an object with any of them is set aside as Misconfigured."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._values: dict[str, dict[str, None]] = {}
        """By the rule that they break, in the order found."""

    def add(self, path: str, message: str) -> None:
        """Note that the field at `path` cannot be used."""
        self._found.append(f"{path}: {message}")

    def add_values(self, what: str, path: str, resources: Iterable[str], message: str) -> None:
        """Note that these resources of the field at `path` break a rule, if there are any."""
        if names := sorted(resources):
            spelled = json.dumps(names, separators=(",", ":"))
            told = f"{path}: Invalid value: {spelled}: {message}"
            self._values.setdefault(what, {})[told] = None

    def amount(self, path: str, resource: str, quantity: Quantity, otherwise: int = 0) -> int:
        """Read a quantity that must not be negative; `otherwise` when it cannot be used."""
        try:
            value = amount(resource, quantity)
        except QuantityError as error:
            self.add(path, str(error))
            return otherwise
        if value < 0:
            self.add(path, f"{quantity} must be greater than or equal to 0")
            return otherwise
        return value

    def amounts(self, path: str, resources: Resources) -> dict[str, int]:
        """Read a resource list."""
        return {name: self.amount(f"{path}[{name}]", name, resources[name]) for name in resources}

    def weight(self, path: str, quantity: Quantity) -> tuple[Fraction, float]:
        """Read a fair-sharing weight that must not be negative; 1 when it cannot be used.

        The second is what Kueue divides by, the same number to the last digit but one. A billionth
        is refused where it is written, but divides as any other weight.
        """
        try:
            nano = parse(quantity).nano
        except QuantityError as error:
            self.add(path, str(error))
            return Fraction(1), 1.0
        if nano < 0:
            self.add(path, f"{quantity} must be greater than or equal to 0")
            return Fraction(1), 1.0
        return Fraction(nano, NANO_PER_UNIT), approximate(quantity)

    def text(self, *, rules: Iterable[str] = ()) -> str:
        """All problems in one line; empty when there are none.

        Of what `add_values` noted, only the first of the `rules` that is broken is told, all of its
        fields as one list: as Kueue, which goes on to the next rule when one is kept.
        """
        if not (self._found or self._values):
            return ""
        broken = next((what for what in (*rules, *self._values) if what in self._values), None)
        if broken is None:
            return "; ".join(self._found)
        fields = list(self._values[broken])
        told = fields[0] if len(fields) == 1 else f"[{', '.join(fields)}]"
        return "; ".join([f"{broken}: {told}", *self._found])
