"""The decorator of values on the hot path: frozen for type checkers, plain at run time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_Value = TypeVar("_Value")


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
def value(*, kw_only: bool = True, eq: bool = True) -> Callable[[type[_Value]], type[_Value]]:
    """Return a decorator that makes a slotted dataclass whose instances must not be changed.

    Only type checkers refuse assignments. A frozen dataclass would set each field through
    `object.__setattr__`, which triples the cost of construction, and several such values are made
    for every decision. Without `eq` each instance is equal only to itself.
    """

    def declare(cls: type[_Value]) -> type[_Value]:
        return dataclass(slots=True, kw_only=kw_only, eq=eq, unsafe_hash=eq)(cls)

    return declare
