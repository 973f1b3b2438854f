"""What expressions may cost on one object: nobody waits long for an object, however large it is."""

import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from queueing.kinds.compiler import compiled
from queueing.kinds.expressions import STEPS_MAX
from queueing.kinds.hooks import NO_HOOKS, Hooks, Seen
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.pod_sets import PodSet
from queueing.kinds.registry import kind_of
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec
from tests.kinds.rows import ROWS, sample

TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
ENTRIES = [{"ready": index % 2 == 0, "name": f"t-{index}"} for index in range(1500)]


def read(
    status: Any, *, active: str = "false", hooks: Hooks = NO_HOOKS, **rules: Any
) -> DescribedJob:
    """Read an object with a status by a description with an expression."""
    named = {"group": "lab.example.com", "version": "v1", "kind": "Experiment", "plural": "exps"}
    spec = {
        "resource": named,
        "suspend": {"field": "spec.paused"},
        "podSets": [{"name": "main", "template": "spec.template"}],
        "active": {"expression": active},
        **rules,
    }
    thing = {"metadata": {"name": "e"}, "spec": {"template": TEMPLATE}, "status": status}
    kind = compiled(QueueableKindSpec.model_validate(spec), hooks)
    return read_job(kind, msgspec.json.encode(thing), lambda _: None)


@pytest.mark.parametrize(
    ("expression", "status"),
    [
        pytest.param(
            "object.status.l.exists(x, object.status.l.exists(y, x + y < 0))",
            {"l": list(range(1000))},
            id="loops in loops",
        ),
        pytest.param(
            f"object.status.l.exists(x, {' || '.join(['x.a + x.a < 0'] * 100)})",
            {"l": [{"a": 1}] * 1000},
            id="a long body",
        ),
        pytest.param(
            "object.status.l.exists(x, 'a'.matches(x))",
            {"l": [f"a{index}[a-z]+" for index in range(1000)]},
            id="patterns of the object",
        ),
        pytest.param(
            "object.status.l.exists(x, duration(x) == duration('1s'))",
            {"l": ["1m" * 1000] * 100},
            id="texts that are read",
        ),
        pytest.param(
            "object.status.l.exists(x, x == 0)", {"l": [1] * 400_000}, id="a list without an end"
        ),
        pytest.param(
            "object.status.a == object.status.b",
            {"a": [[1]] * 50_000, "b": [[1]] * 50_000},
            id="values that are compared",
        ),
    ],
)
def test_an_object_on_which_an_expression_costs_too_much_is_set_aside(
    expression: str, status: Any
) -> None:
    found = read(status, active=expression)
    assert f"more than {STEPS_MAX} steps" in found.problem
    assert "spec.active.expression of the description of Experiment" in found.problem


def test_all_expressions_of_an_object_share_what_they_may_cost() -> None:
    loop = "object.status.l.filter(x, x.ready).map(x, 1).sum()"
    rules = [
        {"name": f"s-{index}", "template": "spec.template", "count": loop} for index in range(18)
    ]
    found = read({"l": ENTRIES}, podSets=rules)
    assert f"more than {STEPS_MAX} steps" in found.problem
    assert read({"l": ENTRIES}, podSets=rules[:2]).problem == ""


def test_an_object_with_a_thousand_entries_is_read() -> None:
    found = read({"l": ENTRIES}, active="object.status.l.exists(x, x.ready && x.name == 't-1400')")
    assert found.problem == ""
    assert found.active


def test_texts_are_not_summed_up() -> None:
    found = read({"l": ["a" * 1000] * 1000}, active="object.status.l.sum() == ''")
    assert "no such overload: sum of string" in found.problem


def test_no_more_pod_sets_are_made_than_a_workload_may_have_and_one() -> None:
    made: list[PodSet] = []

    def endless(_: Seen, found: Sequence[PodSet]) -> Iterator[PodSet]:
        while True:
            made.append(replace(found[0], name=f"s-{len(made)}"))
            yield made[-1]

    found = read({}, hooks=Hooks(pod_sets=endless))
    assert "more than 18 pod sets" in found.problem
    assert len(made) == 19


@pytest.mark.parametrize(
    ("framework", "calls_max"),
    [
        pytest.param("batch/job", 190, id="Job"),
        pytest.param("jobset.x-k8s.io/jobset", 290, id="JobSet"),
        pytest.param("kubeflow.org/pytorchjob", 139, id="PyTorchJob"),
    ],
)
def test_an_object_is_read_by_few_calls(framework: str, calls_max: int) -> None:
    (row,) = (one for one in ROWS if one.framework == framework)
    kind, data = kind_of(framework), msgspec.json.encode(sample(row))
    calls = 0

    def note(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    read_job(kind, data, lambda _: None)
    sys.setprofile(note)
    try:
        read_job(kind, data, lambda _: None)
    finally:
        sys.setprofile(None)
    assert calls <= calls_max
