"""Our evaluator of device selectors says what Kubernetes' own package says."""

import json
import subprocess

from e2e.controlplane import build
from queueing.translate.devices.cel.selector import Answer, selector
from tests.translate.devices.selector_cases import answers, as_line, questions, variables

REFUSED = frozenset({Answer.ABORTS, Answer.INVALID})


def kubernetes() -> list[str]:
    """Return what Kubernetes answers to every question."""
    lines = "".join(as_line(*question) + "\n" for question in questions())
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
        if not same and ours is not Answer.UNSUPPORTED:
            differing.append((expression, device["name"], theirs, ours))
    assert differing == []


def test_the_recorded_answers_are_those_of_this_kubernetes() -> None:
    recorded = answers()
    expected = [word for expression in recorded for word in recorded[expression]]
    assert kubernetes() == expected
