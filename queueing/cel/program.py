"""The face of the evaluator: an expression is compiled once, and called with values.

Called by `webhooks.rules` at each review, by `kinds.expressions` at each look at an object, and by
`devices.rules.selector` for each device that may match.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from queueing.cel.closures import closure, cost_of
from queueing.cel.syntax import Call, Identifier, Node, parse
from queueing.cel.values import CelError, UnsupportedError, Value, truth
from queueing.cel.variables import METER, Closure, CostTracker, Variables

BUDGET = 1_000_000
"""Steps that an evaluation may take: less than a second of them."""

Place = tuple[int | str, ...]
"""Positions in lists, or keys of maps, from without to within."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression; safe to be shared and called again."""

    expression: str
    tree: Node
    names: frozenset[str]
    _run: Closure = field(compare=False, repr=False)

    @property
    def cost(self) -> int:
        """The steps that it takes each time, beside those that are counted as it runs."""
        return cost_of(self.tree)

    def __call__(self, bindings: Mapping[str, Value]) -> Value:
        """Return the value of the expression where its variables have these values.

        Values are what JSON decodes to, and those of `values`. Raises RuntimeProblemError where
        Kubernetes would fail, too, UnsupportedError for what is not evaluated here,
        TooCostlyError when it takes more than BUDGET steps.
        """
        try:
            return self._run(bindings if METER in bindings else metered(bindings))
        except RecursionError:
            raise UnsupportedError("an expression nested this deeply") from None

    def holds(self, bindings: Mapping[str, Value]) -> bool:
        """Return the value of a condition. Raises as a call does, also when it is none."""
        found = self(bindings)
        return found if found is True or found is False else truth(found)

    def failures(self, bindings: Mapping[str, Value]) -> Iterator[Place]:
        """Yield where a condition that is false fails.

        Those are items of the lists that it demands something `all` of; an empty place if it is
        none of that form.
        """
        return _failures(self.tree, self.names, metered(bindings))


def metered(bindings: Mapping[str, Value], budget: int = BUDGET) -> Mapping[str, Value]:
    """Return bindings that all evaluations with them spend one budget in."""
    return {**bindings, METER: CostTracker(budget)}


def compiled(expression: str, variables: frozenset[str]) -> Program:
    """Compile an expression in which these variables are known, and types by their names.

    Raises InvalidError for what Kubernetes would refuse, UnsupportedError for functions that are
    not known here, and for what is nested too deeply.
    """
    try:
        tree = parse(expression)
        return Program(expression, tree, variables, closure(tree, variables))
    except RecursionError:
        raise UnsupportedError("an expression nested this deeply") from None


def _failures(tree: Node, names: frozenset[str], variables: Variables) -> Iterator[Place]:
    match tree:
        case Call("||", (_, right)):
            yield from _failures(right, names, variables)
        case Call("all", (Identifier(name), body), target) if target is not None:
            whole, within = closure(target, names)(variables), names | {name}
            holds = closure(body, within)
            for at in whole if isinstance(whole, Mapping) else range(len(whole)):
                inner = {**variables, name: at if isinstance(whole, Mapping) else whole[at]}
                if not _is_met(holds, inner):
                    yield from ((at, *rest) for rest in _failures(body, within, inner))
        case _:
            yield ()


def _is_met(holds: Closure, variables: Variables) -> bool:
    """Say whether a demand is met, or at least not broken: one that fails has no answer."""
    try:
        return truth(holds(variables))
    except CelError:
        return True
