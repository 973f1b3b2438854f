"""Objects and descriptions that cannot be used: the error names the field and the problem."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from queueing.kinds.compiler import DescriptionError, Kind, compiled
from queueing.kinds.jobs import read_job
from queueing.kinds.paths import put, spelled
from queueing.kinds.pod_sets import UnreadableError
from queueing.kinds.view import View, read
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKind

EXAMPLES = Path(__file__).parents[2] / "examples" / "kinds"
DESCRIPTION: dict[str, Any] = yaml.safe_load((EXAMPLES / "description.yaml").read_text())
EXAMPLE: dict[str, Any] = yaml.safe_load((EXAMPLES / "example.yaml").read_text())
TRIAL = EXAMPLE["spec"]["trials"][0]
Path_ = tuple[str | int, ...]


def changed(document: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    made = deepcopy(document)
    put(made, path, value)
    return made


def kind(path: Path_ = ("metadata", "name"), value: Any = "x") -> Kind:
    return compiled(QueueableKind.from_wire(changed(DESCRIPTION, path, value)).spec)


def view(path: Path_ = ("metadata", "name"), value: Any = "x", *, of: Kind | None = None) -> View:
    return read(of or kind(), msgspec.json.encode(changed(EXAMPLE, path, value)))


TRIALS: Path_ = ("spec", "trials")
POD_SET: Path_ = ("spec", "podSets", 1)
OBJECTS: list[tuple[str, Path_, Any, str, str]] = [
    (
        "a count that is negative",
        (*TRIALS, 0, "workers"),
        -1,
        "spec.podSets[1].count",
        "-1 is no count: a whole number from 0 to 2147483647",
    ),
    (
        "a count that is absurd",
        (*TRIALS, 0, "workers"),
        10**12,
        "spec.podSets[1].count",
        "1000000000000 is no count: a whole number from 0 to 2147483647",
    ),
    (
        "a count that is a text",
        (*TRIALS, 0, "workers"),
        "four",
        "spec.podSets[1].count",
        "'four' is no count: a whole number from 0 to 2147483647",
    ),
    (
        "more pod sets than a Workload has",
        TRIALS,
        [{**TRIAL, "name": f"t{at}"} for at in range(18)],
        "spec.podSets",
        "the object has more than 18 pod sets, which is the most that a Workload has",
    ),
    (
        "a template without containers",
        (*TRIALS, 1, "podTemplate", "spec", "containers"),
        [],
        "spec.podSets[1].template",
        "the template of pod set 'large' has no containers",
    ),
    (
        "a template that is no object",
        (*TRIALS, 1, "podTemplate"),
        "see elsewhere",
        "spec.podSets[1].template",
        "is no pod template: Expected `object`, got `str`",
    ),
    (
        "a template that is not there",
        (*TRIALS, 0, "podTemplate"),
        None,
        "spec.podSets[1].template",
        "spec.trials[0].podTemplate leads nowhere in the object",
    ),
    (
        "two names that differ in capitals",
        (*TRIALS, 0, "name"),
        "LARGE",
        "spec.podSets[1]",
        "two pod sets are named 'large'; names are told apart in lower case",
    ),
    (
        "a name that no pod set may have",
        (*TRIALS, 0, "name"),
        "no/slash",
        "spec.podSets[1].nameFrom",
        "'no/slash' is no name of a pod set: up to 63 letters, digits and '-'",
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "problem"),
    [row[1:] for row in OBJECTS],
    ids=[row[0] for row in OBJECTS],
)
def test_pod_sets_that_no_workload_can_have_are_refused(
    path: Path_, value: Any, field: str, problem: str
) -> None:
    with pytest.raises(UnreadableError) as caught:
        _ = view(path, value).pod_sets
    assert (spelled(caught.value.field), caught.value.problem) == (field, problem)


def test_an_expression_that_fails_on_one_object_says_which_key_and_the_way_out() -> None:
    made = view(of=kind(("spec", "active"), {"expression": "object.status.load > 0"}))
    with pytest.raises(UnreadableError) as caught:
        _ = made.active
    assert spelled(caught.value.field) == "spec.active.expression"
    assert caught.value.problem == (
        "object.status.load > 0 fails on the object: no such key: load;"
        " where load may be absent, write .?load and .orValue(…)"
    )


def test_what_fails_of_one_state_leaves_the_others_readable() -> None:
    made = view(of=kind(("spec", "active"), {"expression": "object.status.load > 0"}))
    assert made.suspended
    assert [one.name for one in made.pod_sets] == ["coordinator", "small", "large"]


def test_a_state_that_is_no_condition_is_refused() -> None:
    made = view(of=kind(("spec", "active"), {"expression": "object.status.running"}))
    with pytest.raises(
        UnreadableError, match=r"object\.status\.running is 2, neither true nor false"
    ):
        _ = made.active


def test_a_pod_set_that_may_or_may_not_be_there_is_refused() -> None:
    made = view(of=kind((*POD_SET, "when"), "item.?workers"))
    with pytest.raises(UnreadableError, match=r"workers is 4, neither true nor false"):
        _ = made.pod_sets


def test_a_suspension_that_is_no_bool_is_refused() -> None:
    with pytest.raises(UnreadableError, match=r"spec\.paused is 'yes', neither true nor false"):
        _ = view(("spec", "paused"), "yes").suspended


def test_a_field_of_another_type_than_its_path_supposes_is_refused() -> None:
    with pytest.raises(UnreadableError, match="Expected `array`, got `object`"):
        view(TRIALS, {"small": TRIAL})


def test_a_path_that_leads_nowhere_is_named() -> None:
    made = compiled(
        QueueableKind.from_wire(
            changed(
                DESCRIPTION,
                ("spec", "podSets"),
                [{**DESCRIPTION["spec"]["podSets"][1], "forEach": "spec.tirals"}],
            )
        ).spec
    )
    with pytest.raises(UnreadableError) as caught:
        _ = view(of=made).pod_sets
    assert str(caught.value) == "spec.podSets[0].forEach: spec.tirals leads nowhere in the object"


DESCRIPTIONS: list[tuple[str, Path_, Any, str]] = [
    (
        "an expression with a mistake",
        (*POD_SET, "count"),
        "item.workers +",
        "spec.podSets[1].count: syntax error at position 15: unexpected the end",
    ),
    (
        "a variable that is not known there",
        ("spec", "active"),
        {"expression": "item.workers > 0"},
        "spec.active.expression: undeclared reference to 'item'",
    ),
    (
        "a function that is not evaluated here",
        (*POD_SET, "count"),
        "item.name.format([])",
        "spec.podSets[1].count: the function format is not evaluated here",
    ),
    (
        "an object as a whole",
        ("spec", "active"),
        {"expression": "size(object) > 0"},
        "spec.active.expression: names the whole object; name its fields, such as object.spec",
    ),
    (
        "a field of metadata",
        ("spec", "suspend", "field"),
        "metadata.paused",
        "spec.suspend.field: must not be a field of metadata",
    ),
    (
        "a field of the status that suspends",
        ("spec", "suspend", "field"),
        "status.paused",
        "spec.suspend.field: must not be a field of status",
    ),
    (
        "a template in the status",
        ("spec", "podSets", 0, "template"),
        "status.template",
        "spec.podSets[0].template: must not be a field of status",
    ),
    (
        "templates in a list of the status",
        (*POD_SET, "forEach"),
        "status.trials",
        "spec.podSets[1].forEach: must not be a field of status",
    ),
    (
        "a place in the status where a start adds to pods",
        ("spec", "podSets", 0, "places"),
        {
            "labels": "status.labels",
            "annotations": "spec.annotations",
            "nodeSelector": "spec.nodeSelector",
            "tolerations": "spec.tolerations",
            "schedulingGates": "spec.gates",
        },
        "spec.podSets[0].places.labels: must not be a field of status",
    ),
    (
        "a reset of what is not in the status",
        ("spec", "suspend", "reset"),
        ["spec.started"],
        "spec.suspend.reset[0]: must be a field of status",
    ),
    (
        "no pod sets",
        ("spec", "podSets"),
        [],
        "spec.podSets: must have at least one entry",
    ),
    (
        "no template",
        (*POD_SET, "template"),
        None,
        "spec.podSets[1].template: required, unless the object is a pod itself (suspend.gate)",
    ),
    (
        "fields for a count that never changes",
        (*POD_SET, "countFields"),
        [{"path": "spec.workers"}],
        "spec.podSets[1].countFields: has no effect without minCount",
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [row[1:] for row in DESCRIPTIONS],
    ids=[row[0] for row in DESCRIPTIONS],
)
def test_a_description_that_no_object_can_be_read_by_is_refused(
    path: Path_, value: Any, told: str
) -> None:
    with pytest.raises(DescriptionError) as caught:
        kind(path, value)
    assert str(caught.value) == told


def test_a_list_in_one_pod_set_is_no_map_in_another() -> None:
    rules = [*DESCRIPTION["spec"]["podSets"], {**DESCRIPTION["spec"]["podSets"][1], "keys": ["a"]}]
    with pytest.raises(
        DescriptionError, match=r"spec.trials is a map in one pod set and a list in"
    ):
        kind(("spec", "podSets"), rules)


def test_all_mistakes_of_a_description_are_told_at_once() -> None:
    broken = changed(DESCRIPTION, (*POD_SET, "count"), "item.")
    broken["spec"]["active"] = {"expression": "nothing"}
    with pytest.raises(DescriptionError) as caught:
        compiled(QueueableKind.from_wire(broken).spec)
    told = [spelled(one.field) for one in caught.value.problems]
    assert told == ["spec.podSets[1].count", "spec.active.expression"]


def test_a_null_in_the_path_of_a_state_is_an_absent_field() -> None:
    assert not view(("status", "running"), None).active


def test_a_status_that_says_badly_what_is_needless_leaves_the_pods_readable() -> None:
    document = changed(
        EXAMPLE, ("status", "trials"), [{"name": EXAMPLE["spec"]["trials"][0]["name"]}]
    )
    found = read_job(kind(), msgspec.json.encode(document), lambda _: None)
    assert [one.reclaimable for one in found.pod_sets] == [0] * len(found.pod_sets)
    assert len(found.pod_sets) > 1
    assert "spec.podSets[1].reclaimable of the description" in found.problem
