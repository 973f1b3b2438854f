"""Takes nulls out of objects, in which they count as absent."""

from collections.abc import Callable
from typing import Any

_NESTED = (dict, list)
_PRUNED_IN_A_STEP, _PRUNED_AT_ONCE = 8, 800


def prune(found: Any, spend: Callable[[int], None]) -> None:
    """Take away nulls, also in place of a template; `spend` is told of the steps, and may raise."""
    rest, count = [found], 0
    while rest:
        one = rest.pop()
        count += len(one) + 4
        if count > _PRUNED_AT_ONCE:
            spend(count // _PRUNED_IN_A_STEP)
            count = 0
        if type(one) is dict:
            for key, value in list(one.items()):
                if value is None:
                    del one[key]
                elif type(value) in _NESTED:
                    rest.append(value)
        else:
            rest += [value for value in one if type(value) in _NESTED]
    spend(count // _PRUNED_IN_A_STEP)


def pruned(value: Any) -> Any:
    """Return a copy without nulls."""
    if type(value) is dict:
        return {
            key: pruned(one) if type(one) in _NESTED else one
            for key, one in value.items()
            if one is not None
        }
    return [pruned(one) if type(one) in _NESTED else one for one in value]
