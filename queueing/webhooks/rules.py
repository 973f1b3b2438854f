"""The tables of expressions that definitions and policies are rendered from, evaluated here.

For servers that do not ask their definitions or policies, and for `plan`. An expression that is
true demands nothing more; one that is false is a finding, in the words of the table; one that has
no answer is a finding as well, as it is a refusal of the API server.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from queueing.cel.program import Program, compiled, metered
from queueing.cel.values import CelError, Value
from queueing.webhooks.findings import Finding, Wire, dig, located, value_at
from queueing.webhooks.jobs import owners, without_owner
from queueing.webhooks.policies.demand import Mutation, Policy
from queueing.webhooks.suspension import QueuedKind
from queueing_api.crd.rules import RULES, Rule

Bindings = Mapping[str, Value]
NO_REQUEST: Final[Wire] = {}

RULES_OF: Final[Mapping[str, Sequence[Rule]]] = {**RULES["v1beta2"], **RULES["v1alpha1"]}
"""Rules of each kind, in the version that is stored."""
OF_POLICIES: Final = frozenset({"object", "oldObject", "request", "variables"})
OF_MUTATIONS: Final = OF_POLICIES | {"JSONPatch"}
OF_RULES: Final = frozenset({"self", "oldSelf"})
_RESERVED: Final = re.compile("__(in|for|if|namespace|package|return|true|false|null)__")
"""Names of fields that are words of the language, as rules of definitions spell them."""
_STEP: Final = re.compile(r"(?P<name>[^.\[\]{}]+)(?P<each>\[\]|\{\})?")


@cache
def program_of(expression: str, variables: frozenset[str]) -> Program:
    """Return the program of an expression of the tables, compiled when it is first asked for."""
    return compiled(_RESERVED.sub(r"`\1`", expression), variables)


class _Phrases(dict[str, Value]):
    """The variables of a policy, each worked out when it is first asked for."""

    def __init__(self, texts: Mapping[str, str], bindings: Bindings) -> None:
        super().__init__()
        self._texts = texts
        self._bindings = {**bindings, "variables": self}

    def __missing__(self, name: str) -> Value:
        found = self[name] = program_of(self._texts[name], OF_POLICIES)(self._bindings)
        return found


def bound(
    variables: Mapping[str, str], new: Wire, old: Wire | None = None, request: Wire = NO_REQUEST
) -> Bindings:
    """Return what the expressions of a policy with these variables speak of, for one write."""
    bindings = metered({"object": new, "oldObject": old, "request": request})
    return {**bindings, "variables": _Phrases(variables, bindings)}


def concerns(conditions: Iterable[str], bindings: Bindings) -> bool:
    """Say whether a write meets the conditions of a policy; when it cannot be told, it does."""
    try:
        return all(program_of(text, OF_POLICIES).holds(bindings) for text in conditions)
    except CelError:
        return True


def has_managed_owner(thing: Wire, kinds: Iterable[QueuedKind] = ()) -> bool:
    """Say whether the object's controller queues for it, where some kinds are on."""
    return not concerns((without_owner(owners(kinds)),), bound({}, thing))


def patches_of(mutation: Mutation, new: Wire) -> list[Wire]:
    """Return the patches (RFC 6902) of a new object. Raises CelError when it cannot be told."""
    if mutation.label not in (dig(new, "metadata", "labels") or {}):
        return []
    bindings = bound(mutation.variables, new)
    if not concerns(mutation.conditions.values(), bindings):
        return []
    found: list[Wire] = program_of(mutation.patches, OF_MUTATIONS)(bindings)
    return found


def broken_demands(policy: Policy, bindings: Bindings) -> Iterator[Finding]:
    """Yield the demands that a write does not meet; of those on one field the first."""
    told = ""
    for demand in policy.demands:
        program = program_of(demand.expression, OF_POLICIES)
        at = demand.at or demand.path
        if at != told and not _is_met(program, bindings):
            told = at
            for path, message in _places(program, bindings, at, (demand.message, demand.words)):
                value = value_at(bindings["object"], path)
                yield Finding(path=path, fault=demand.fault, message=message, value=value)


def broken_rules(kind: str, new: Wire, old: Wire | None) -> Iterator[Finding]:
    """Yield the rules of its definition that an object breaks; of those on one field the first."""
    told: set[str] = set()
    places: dict[str, list[tuple[str, Bindings]]] = {}
    for rule in RULES_OF.get(kind, ()):
        program = program_of(rule.expression, OF_RULES)
        compares = "oldSelf" in rule.expression
        if rule.path not in places:
            places[rule.path] = list(selves(rule.path, new, old))
        for place, bindings in places[rule.path]:
            if (compares and "oldSelf" not in bindings) or _is_met(program, bindings):
                continue
            at = f"{place}{rule.at or rule.field}".removeprefix(".")
            if at in told:
                continue
            told.add(at)
            words = (rule.message, rule.message_expression)
            for path, message in _places(program, bindings, at, words):
                value = value_at(new, path)
                yield Finding(path=path, message=message, value=value, of_definition=True)


def _is_met(program: Program, bindings: Bindings) -> bool:
    try:
        return program.holds(bindings)
    except CelError:
        return False


def _places(
    program: Program, bindings: Bindings, path: str, words: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield where a condition fails that does not hold, and what is said of it."""
    message, expression = words
    try:
        program(bindings)
        places = list(program.failures(bindings)) or [()]
        if expression:
            # It speaks of the first that is wrong.
            message, places = program_of(expression, program.names)(bindings), places[:1]
    except CelError as error:
        yield path, f"{message} (cannot be told: {error})"
        return
    for where in dict.fromkeys(located(path, place) for place in places):
        yield where, message


def selves(path: str, new: Wire, old: Wire | None) -> Iterator[tuple[str, Bindings]]:
    """Yield each place of the objects that a rule at a path is about, and what stands there.

    Items of lists have no older selves: they are not told apart by the order that they are in.
    """
    found: list[tuple[str, Bindings]] = [("", {"self": new} | ({"oldSelf": old} if old else {}))]
    for step in _STEP.finditer(path):
        found = [
            after
            for where, bindings in found
            for after in _within(where, bindings, step["name"], step["each"])
        ]
    yield from ((where, metered(bindings)) for where, bindings in found)


def _within(
    path: str, bindings: Bindings, name: str, each: str | None
) -> Iterator[tuple[str, Bindings]]:
    selves = {
        word: one[name] for word, one in bindings.items() if isinstance(one, dict) and name in one
    }
    there = selves.get("self")
    where = f"{path}.{name}"
    if each is None and "self" in selves:
        yield where, selves
    elif each == "[]" and isinstance(there, list):
        yield from ((f"{where}[{at}]", {"self": one}) for at, one in enumerate(there))
    elif each == "{}" and isinstance(there, dict):
        yield from ((f"{where}[{key}]", {"self": one}) for key, one in sorted(there.items()))
