"""Selectors of labels in the configuration: checked at the start, as there is no API server to."""

from typing import Annotated, Final

from pydantic import AfterValidator

from queueing_api.meta.v1 import LabelSelector

_TAKES_VALUES: Final = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}


def _can_be_judged(selector: LabelSelector) -> LabelSelector:
    for number, demand in enumerate(selector.match_expressions):
        field = f"matchExpressions[{number}]"
        if not demand.key:
            raise ValueError(f"{field}.key: required")
        if demand.operator not in _TAKES_VALUES:
            known = ", ".join(_TAKES_VALUES)
            raise ValueError(f"{field}.operator: {demand.operator!r} should be one of {known}")
        if _TAKES_VALUES[demand.operator] != bool(demand.values):
            wanted = "required" if _TAKES_VALUES[demand.operator] else "must be empty"
            raise ValueError(f"{field}.values: {wanted} with operator {demand.operator}")
    return selector


Selector = Annotated[LabelSelector, AfterValidator(_can_be_judged)]
"""A choice of objects by their labels, of which every demand can be judged."""
