"""Fields that are written without a value, as the head of a block that is commented out."""

from typing import Any, Final

_MAPS: Final = frozenset(
    {"featureGates", "groupKindConcurrency", "resourceWeights", "outputs", "matchLabels"}
)
"""Fields whose keys their users choose."""


def without_blanks(value: Any) -> Any:
    """Leave out fields without a value: they get their default, as in Kueue.

    Maps whose keys are not ours are left as they are: a gate without a value is a mistake.
    """
    if isinstance(value, list):
        return [without_blanks(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: one if key in _MAPS else without_blanks(one)
        for key, one in value.items()
        if one is not None
    }
