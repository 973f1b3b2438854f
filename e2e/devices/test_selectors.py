"""Our evaluator of device selectors says what Kubernetes' own package says."""

import json
import subprocess
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from e2e.controlplane import build
from queueing.devices.rules.selector import MatchAnswer, selector
from tests.devices.rules.random_selectors import Grammar
from tests.devices.rules.selector_cases import (
    ANSWERS,
    EXPRESSIONS,
    RANDOM_ANSWERS,
    answers,
    as_line,
    questions,
    variables,
)

REFUSED = frozenset({MatchAnswer.ABORTS, MatchAnswer.INVALID})


SEED, MANY = 2026, 3_000
"""Other expressions than those whose answers are recorded."""


def kubernetes(expressions: Iterable[str] = EXPRESSIONS) -> list[str]:
    """Return what Kubernetes answers to every question about some expressions."""
    lines = "".join(as_line(*question) + "\n" for question in questions(expressions))
    said = subprocess.run(
        [build.selectors()], input=lines, capture_output=True, text=True, timeout=60, check=True
    )
    return [json.loads(line)["answer"] for line in said.stdout.splitlines()]


def test_what_is_answered_is_what_kubernetes_answers() -> None:
    judged = kubernetes()
    assert len(judged) == len(questions()) > 400
    differing = []
    for (expression, device), theirs in zip(questions(), judged, strict=True):
        ours = selector(expression).judge(variables(device)).answer
        same = ours == theirs or (ours in REFUSED and theirs in REFUSED)
        if not same and ours is not MatchAnswer.UNSUPPORTED:
            differing.append((expression, device["name"], theirs, ours))
    assert differing == []


def test_random_expressions_are_answered_as_kubernetes_answers_them() -> None:
    """Those with an error of type are left out: the server takes no object that has one."""
    expressions = list(dict.fromkeys(islice(Grammar(SEED).selectors(), MANY)))
    differing, answered = [], 0
    asked = zip(questions(expressions), kubernetes(expressions), strict=True)
    for (expression, device), theirs in asked:
        ours = selector(expression).judge(variables(device)).answer
        if theirs == MatchAnswer.INVALID or ours is MatchAnswer.UNSUPPORTED:
            continue
        answered += 1
        if ours != theirs and not (ours in REFUSED and theirs in REFUSED):
            differing.append((expression, device["name"], theirs, ours))
    assert differing == []
    assert answered > MANY


@pytest.mark.parametrize(
    "path", [pytest.param(ANSWERS, id="written"), pytest.param(RANDOM_ANSWERS, id="random")]
)
def test_the_recorded_answers_are_those_of_this_kubernetes(path: Path) -> None:
    recorded = answers(path)
    expected = [word for expression in recorded for word in recorded[expression]]
    assert kubernetes(recorded) == expected
