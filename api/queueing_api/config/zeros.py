"""Zero values that mean *unset*, as programs in Go write them.

A struct of Go has no missing fields: whoever encodes one writes `""` and `0s` for all that was
never set. Kueue's defaulting replaces these like fields that are missing. Where the type there is a
pointer, zero is a value like others, and the field here does not use these types.
"""

from typing import Any, Final

from pydantic import BeforeValidator
from pydantic_core import PydanticUseDefault

from queueing_api.config.duration import seconds_of


def _default_for_empty(value: Any) -> Any:
    if value == "":
        raise PydanticUseDefault
    return value


def _default_for_zero(value: Any) -> Any:
    if is_zero(value):
        raise PydanticUseDefault
    return value


def is_zero(value: Any) -> bool:
    """Say whether a number, or a duration such as `0s`, is zero; texts of other kinds are not."""
    if isinstance(value, str):
        try:
            return seconds_of(value) == 0
        except ValueError:
            return False
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


EMPTY_IS_UNSET: Final = BeforeValidator(_default_for_empty)
"""Marks a field that has its default where an empty text is written."""
ZERO_IS_UNSET: Final = BeforeValidator(_default_for_zero)
"""Marks a field that has its default where the number 0, or no time at all, is written."""
