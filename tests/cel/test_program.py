"""The evaluator of CEL by its face: an expression is compiled, and called with values."""

from typing import Any

import pytest

from queueing.cel.program import BUDGET, compiled
from queueing.cel.values import (
    InvalidError,
    MissingKeyError,
    RuntimeProblemError,
    TooCostlyError,
    UnsupportedError,
)
from tests.cel.cases import FAILURES, VALUES, WORLD

NAMES = frozenset(WORLD)


@pytest.mark.parametrize(("expression", "value"), VALUES.items())
def test_an_expression_has_its_value(expression: str, value: Any) -> None:
    found = compiled(expression, NAMES)(WORLD)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("expression", FAILURES)
def test_what_has_no_value_fails(expression: str) -> None:
    program = compiled(expression, NAMES)
    with pytest.raises(RuntimeProblemError):
        program(WORLD)


def test_a_key_that_is_missing_is_named() -> None:
    with pytest.raises(MissingKeyError) as failed:
        compiled("job.spec.parallelism", NAMES)(WORLD)
    assert failed.value.key == "parallelism"


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("pod.spec", id="a variable that is not declared"),
        pytest.param("job.spec ==", id="half an expression"),
        pytest.param("has(job)", id="a macro of something else"),
        pytest.param("9223372036854775808", id="a number of 64 bits and more"),
    ],
)
def test_what_kubernetes_would_refuse_is_not_compiled(expression: str) -> None:
    with pytest.raises(InvalidError):
        compiled(expression, NAMES)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("ip('10.0.0.1').family()", id="a function"),
        pytest.param("(" * 100 + "true" + ")" * 100, id="an expression in parentheses"),
        pytest.param(" + ".join(["1"] * 5000), id="a long sum"),
    ],
)
def test_what_is_not_known_here_is_not_compiled_either(expression: str) -> None:
    with pytest.raises(UnsupportedError):
        compiled(expression, NAMES)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("^(a+)+$", id="a repetition of a repetition"),
        pytest.param("(a|a)*b", id="a repetition of a choice"),
        pytest.param("(a?){20}b", id="a repetition of what may be there"),
        pytest.param("(.[a-z]*)*$", id="a repetition that may begin in its middle"),
        pytest.param("(?=a)", id="a look ahead"),
        pytest.param("[[:alpha:]]", id="a class with a name"),
    ],
)
def test_a_pattern_that_may_take_for_ever_or_means_something_else_is_not_matched(
    pattern: str,
) -> None:
    program = compiled(f"text.matches('{pattern}')", frozenset({"text"}))
    with pytest.raises(UnsupportedError):
        program({"text": "a" * 40})


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param("all.map(x, all.map(y, all.map(z, 1)))", "", id="loops in loops"),
        pytest.param("all.exists(x, all.exists(y, all == [x, y]))", "", id="comparisons in loops"),
        pytest.param(
            "text.replace('', text).replace('', text)", "x" * 5000, id="a text that grows"
        ),
        pytest.param("all.map(x, text).join(text)", "x" * 5000, id="texts that are joined"),
        pytest.param("text.matches('a*a*a*a*b')", "a" * 100, id="a pattern with many ways"),
        pytest.param(
            "text.matches('a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b')", "a" * 100, id="and more"
        ),
        pytest.param(
            "cel.bind(a, text + text, cel.bind(b, a + a, cel.bind(c, b + b, c + c + c + c)))",
            "x" * 5_000_000,
            id="a text that is doubled",
        ),
    ],
)
def test_an_evaluation_is_given_up_when_it_costs_too_much(expression: str, text: str) -> None:
    program = compiled(expression, frozenset({"all", "text"}))
    with pytest.raises(TooCostlyError):
        program({"all": list(range(300)), "text": text})


def test_what_is_given_up_is_not_enough_for_the_other_side_of_an_or() -> None:
    loops = "n.map(x, n.map(y, n.map(z, 1))) == [] || true"
    with pytest.raises(TooCostlyError):
        compiled(loops, frozenset({"n"}))({"n": list(range(200))})
    assert BUDGET < 200**3


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        pytest.param("groups.all(g, g.sizes.all(s, s > 0))", [(0, 1), (1, 0)], id="in lists"),
        pytest.param("nope || groups.all(g, size(g.sizes) == 2)", [(1,)], id="behind an or"),
        pytest.param("names.all(k, names[k] == 'a')", [("y",)], id="in a map"),
        pytest.param("size(groups) == 3", [()], id="in no list"),
        pytest.param("groups.all(g, size(g.sizes) < 3)", [], id="nowhere"),
    ],
)
def test_it_is_told_which_items_fail(expression: str, places: list[tuple[Any, ...]]) -> None:
    world = {
        "groups": [{"sizes": [1, -1]}, {"sizes": [0]}],
        "names": {"x": "a", "y": "b"},
        "nope": False,
    }
    program = compiled(expression, frozenset(world))
    assert program.holds(world) is (places == [])
    assert places == [] or list(program.failures(world)) == places


def test_a_condition_that_is_none_is_told() -> None:
    with pytest.raises(RuntimeProblemError, match="a int is no condition"):
        compiled("1 + 1", frozenset()).holds({})
