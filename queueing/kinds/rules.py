"""Rules of a description with their compiled expressions."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.kinds.expressions import Expression
from queueing.kinds.paths import Steps
from queueing_api.queueing.v1alpha1.queueable_kind import PodSetRule, StateRule

OBJECT, ITEM, KEY, COUNT, POD_SETS = "object", "item", "key", "count", "podSets"
"""The variables that expressions may have."""

CONDITIONS = ("status", "conditions")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPodSet:
    """A rule for pod sets with its programs."""

    rule: PodSetRule
    at: Steps
    """Where the rule is in the description."""
    each: Steps
    """Path of the list or map whose entries are pod sets; empty where the object itself is."""
    template: Steps
    """Path of the template below that."""
    programs: Mapping[str, Expression]
    """By the name of the field that holds the expression, as the description spells it."""
    count_fields: tuple[tuple[Steps, Expression | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledState:
    """A rule for a state with its programs."""

    at: Steps
    """Where the rule is in the description."""
    rule: StateRule
    programs: Mapping[str, Expression]
    bare: bool = False
    """Whether the description has the expression alone, not a rule around it."""
