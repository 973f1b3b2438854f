"""Our evaluator says what Kubernetes' own says, of every expression of definitions and policies."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from e2e.controlplane import build
from queueing.cel.values import InvalidError, RuntimeProblemError
from queueing.webhooks.admission import POLICIES
from queueing.webhooks.policies.demand import Policy
from queueing.webhooks.policies.jobs import JOBS_BESIDE_A_DEFAULT_QUEUE
from queueing.webhooks.policies.quotas import FLAVORS_OF_CHECKS
from queueing.webhooks.rules import OF_POLICIES, OF_RULES, RULES_OF, bound, program_of, selves
from queueing_api.crd.generate import as_stored
from queueing_api.crd.rules import Rule
from queueing_api.kueue import v1beta2
from queueing_api.queueing import v1alpha1
from tests.cel.cases import FAILURES, VALUES, WORLD
from tests.webhooks import marked_rows
from tests.webhooks.table import Row, Wire, rows

MARKED = [
    Row(kind=one.kind, name=one.name, new=one.new, old=one.old) for one in marked_rows.CHANGES
]
"""Changes of objects whose pods are queued."""
NO_REQUEST: Wire = {}
ALL_POLICIES = (*POLICIES.values(), FLAVORS_OF_CHECKS, JOBS_BESIDE_A_DEFAULT_QUEUE)


class Question(NamedTuple):
    """An expression and what it is about; what we say of it."""

    expression: str
    bindings: Mapping[str, Any]
    phrases: tuple[tuple[str, str], ...]
    ours: Any


def answer(expression: str, names: frozenset[str], bindings: Mapping[str, Any]) -> Any:
    """Return what we say of an expression: its value in a list, or why there is none."""
    try:
        return [program_of(expression, names)(bindings)]
    except RuntimeProblemError:
        return "Aborts"
    except InvalidError:
        return "Invalid"


def stored(kind: str, wire: Wire | None) -> Wire | None:
    model = getattr(v1beta2, kind, None) or getattr(v1alpha1, kind, None)
    return wire if model is None or wire is None else as_stored(model, wire)


def of_policy(policy: Policy, row: Row) -> Iterator[Question]:
    new, old = stored(row.kind, row.new) or {}, stored(row.kind, row.old)
    plain = {"object": new, "oldObject": old, "request": NO_REQUEST}
    phrases = tuple(policy.variables.items())
    texts = [*policy.conditions, *policy.variables.values()]
    texts += [one.expression for one in policy.demands]
    texts += [one.words for one in policy.demands if one.words]
    bindings = bound(policy.variables, new, old)
    for text in texts:
        yield Question(text, plain, phrases, answer(text, OF_POLICIES, bindings))


def of_rule(rule: Rule, row: Row) -> Iterator[Question]:
    for _, bindings in selves(
        rule.path, stored(row.kind, row.new) or {}, stored(row.kind, row.old)
    ):
        for text in filter(None, (rule.expression, rule.message_expression)):
            if "oldSelf" in bindings or "oldSelf" not in text:
                # Names of fields that are words of CEL are spelled otherwise, there in the schema.
                plain = {name: bindings[name] for name in OF_RULES & bindings.keys()}
                here = json.loads(json.dumps(plain).replace('"namespace"', '"__namespace__"'))
                yield Question(text, here, (), answer(text, OF_RULES, bindings))


def kubernetes(questions: list[Question]) -> list[Any]:
    """Return what Kubernetes answers to each question."""
    lines = "".join(
        json.dumps({"expression": one.expression, "bindings": one.bindings, "phrases": one.phrases})
        + "\n"
        for one in questions
    )
    said = subprocess.run(
        [build.selectors()], input=lines, capture_output=True, text=True, timeout=120, check=True
    )
    told = map(json.loads, said.stdout.splitlines())
    return [[one["value"]] if one["answer"] == "Value" else one["answer"] for one in told]


def differing(questions: list[Question]) -> list[tuple[Any, ...]]:
    return [
        (one.expression, one.bindings, theirs, one.ours)
        for one, theirs in zip(questions, kubernetes(questions), strict=True)
        if theirs != one.ours
    ]


def test_expressions_of_policies_are_answered_as_kubernetes_answers_them() -> None:
    questions = [
        question
        for row in (*rows(), *MARKED)
        for policy in ALL_POLICIES
        if policy.kind == row.kind
        for question in of_policy(policy, row)
    ]
    asked = {one.expression for one in questions}
    assert asked >= {one.expression for policy in ALL_POLICIES for one in policy.demands}
    assert differing(questions) == []


def test_rules_of_definitions_are_answered_as_kubernetes_answers_them() -> None:
    questions = [
        question
        for row in rows()
        for rule in RULES_OF.get(row.kind, ())
        for question in of_rule(rule, row)
    ]
    asked = {one.expression for one in questions}
    assert asked >= {rule.expression for rules in RULES_OF.values() for rule in rules}
    assert differing(questions) == []


def test_what_else_expressions_may_say_is_answered_alike() -> None:
    names = frozenset(WORLD)
    questions = [
        Question(one, WORLD, (), answer(one, names, WORLD)) for one in (*VALUES, *FAILURES)
    ]
    assert differing(questions) == []
