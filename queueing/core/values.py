"""How the values of the hot path are declared: frozen for type checkers, plain at run time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_Value = TypeVar("_Value")


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
def value(*, kw_only: bool = True, eq: bool = True) -> Callable[[type[_Value]], type[_Value]]:
    """Make a slotted dataclass that nobody may change.

    A type checker refuses assignments. At run time nothing does: a frozen dataclass sets each field
    through `object.__setattr__`, which makes its construction cost three times as much, and several
    of these are made for every decision. Without `eq` each is equal only to itself.
    """

    def declare(cls: type[_Value]) -> type[_Value]:
        return dataclass(slots=True, kw_only=kw_only, eq=eq, unsafe_hash=eq)(cls)

    return declare
