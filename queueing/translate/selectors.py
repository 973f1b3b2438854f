"""Label selectors and tolerations from the wire; `core.selectors` matches them."""

from queueing.core.selectors import Requirement, Selector, Toleration
from queueing.translate.problems import Problems
from queueing.translate.wire import pods
from queueing.translate.wire.meta import Expression, LabelSelector

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def selector(wire: LabelSelector | None, path: str, problems: Problems) -> Selector | None:
    """Translate a label selector; None stays None, because it matches nothing."""
    if wire is None:
        return None
    equal = [
        Requirement(key=key, operator="In", values=(wire.match_labels[key],))
        for key in sorted(wire.match_labels)
    ]
    for position, term in enumerate(wire.match_expressions):
        _judge(term, f"{path}.matchExpressions[{position}]", problems)
    return Selector((*equal, *map(requirement, wire.match_expressions)))


def requirement(term: Expression) -> Requirement:
    """Translate one term of a selector or of node affinity."""
    return Requirement(key=term.key, operator=term.operator, values=tuple(term.values))


def toleration(found: pods.Toleration) -> Toleration:
    """Translate a toleration; no operator means Equal."""
    return Toleration(
        key=found.key,
        operator=found.operator or "Equal",
        value=found.value,
        effect=found.effect,
        toleration_seconds=found.toleration_seconds,
    )


def _judge(term: Expression, path: str, problems: Problems) -> None:
    if term.operator not in _OPERATORS:
        problems.add(path, f"{term.operator!r} is not one of {', '.join(_OPERATORS)}")
    elif term.operator in ("In", "NotIn") and not term.values:
        problems.add(path, f"values must be set with operator {term.operator}")
