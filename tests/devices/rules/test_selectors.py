"""Device selectors: answered as Kubernetes answers, or said not to be evaluated."""

import pytest

from queueing.devices.rules.selector import MatchAnswer, selector
from tests.devices.rules.selector_cases import (
    DEVICES,
    EXPRESSIONS,
    NOT_EVALUATED,
    RANDOM_ANSWERS,
    answers,
    variables,
)

RECORDED = answers()
VARIABLES = [variables(device) for device in DEVICES]
REFUSED = {"Aborts", "Invalid"}


def test_every_expression_has_an_answer_of_kubernetes() -> None:
    assert list(RECORDED) == list(EXPRESSIONS)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_is_answered_as_kubernetes_answers_it(expression: str) -> None:
    for at, theirs in enumerate(RECORDED[expression]):
        ours = selector(expression).judge(VARIABLES[at]).answer
        if expression in NOT_EVALUATED:
            assert ours is MatchAnswer.UNSUPPORTED
        elif theirs in REFUSED:
            assert ours in REFUSED
        else:
            assert ours == theirs


def test_expressions_that_nobody_thought_of_are_answered_alike() -> None:
    differing, answered = [], 0
    for expression, recorded in answers(RANDOM_ANSWERS).items():
        judge = selector(expression).judge
        for variables_of, theirs in zip(VARIABLES, recorded, strict=True):
            ours = judge(variables_of).answer
            answered += ours is not MatchAnswer.UNSUPPORTED
            if ours not in (theirs, MatchAnswer.UNSUPPORTED) and not {ours, theirs} <= REFUSED:
                differing.append((expression, theirs, ours))
    assert differing == []
    assert answered > 1_000


def test_an_attribute_that_is_missing_is_named() -> None:
    verdict = selector("device.attributes['dra.example.com'].nope == 1").judge(VARIABLES[0])
    assert (verdict.answer, verdict.missing) == (MatchAnswer.ABORTS, "nope")


def test_what_is_not_evaluated_is_named() -> None:
    verdict = selector("ip('10.0.0.1').family() == 4").judge(VARIABLES[0])
    assert verdict.why == "the function ip is not evaluated here"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        pytest.param("device.nope", "undefined field 'nope' of device", id="a field"),
        pytest.param("nope", "undeclared reference to 'nope'", id="a variable"),
        pytest.param("true &&", "syntax error at position 8: unexpected the end", id="an end"),
        pytest.param("x" * 10241, "must be at most 10240 characters", id="its length"),
    ],
)
def test_what_is_wrong_with_an_expression_is_said(expression: str, why: str) -> None:
    verdict = selector(expression).judge(VARIABLES[0])
    assert (verdict.answer, verdict.why) == (MatchAnswer.INVALID, why)


def test_an_expression_nested_without_an_end_does_not_end_the_program() -> None:
    deep = "(" * 500 + "true" + ")" * 500
    assert selector(deep).judge(VARIABLES[0]).answer is MatchAnswer.UNSUPPORTED
