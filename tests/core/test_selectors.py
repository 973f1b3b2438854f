"""Which requirements cannot be read, and what is said of them."""

import pytest

from queueing.core.selectors import Requirement, fault, label_fault, meets

NO_VALUES = "for 'in', 'notin' operators, values set can't be empty"
NEEDS_NONE = "values set must be empty for exists and does not exist"
NEEDS_ONE = "for 'Gt', 'Lt' operators, exactly one value is required"
NO_NUMBER = "for 'Gt', 'Lt' operators, the value must be an integer"


@pytest.mark.parametrize(
    ("operator", "values", "field", "told"),
    [
        pytest.param("In", (), "values", f"Invalid value: []: {NO_VALUES}", id="in nothing"),
        pytest.param("NotIn", (), "values", f"Invalid value: []: {NO_VALUES}", id="not in nothing"),
        pytest.param("Exists", ("a",), "values", f'Invalid value: ["a"]: {NEEDS_NONE}', id="is a"),
        pytest.param(
            "DoesNotExist", ("a",), "values", f'Invalid value: ["a"]: {NEEDS_NONE}', id="is not a"
        ),
        pytest.param("Gt", (), "values", f"Invalid value: []: {NEEDS_ONE}", id="above nothing"),
        pytest.param(
            "Lt", ("1", "2"), "values", f'Invalid value: ["1","2"]: {NEEDS_ONE}', id="below two"
        ),
        pytest.param("Gt", ("x",), "values[0]", f'Invalid value: "x": {NO_NUMBER}', id="above x"),
        pytest.param(
            "Lt", ("1_0",), "values[0]", f'Invalid value: "1_0": {NO_NUMBER}', id="below 1_0"
        ),
    ],
)
def test_a_requirement_that_makes_no_sense_is_told_by_its_field(
    operator: str, values: tuple[str, ...], field: str, told: str
) -> None:
    assert fault(Requirement(key="tier", operator=operator, values=values)) == (field, told)


def test_an_unknown_operator_is_told_with_those_that_there_are() -> None:
    known = '"DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"'
    assert fault(Requirement(key="tier", operator="Near")) == (
        "operator",
        f'Unsupported value: "Near": supported values: {known}',
    )


@pytest.mark.parametrize(
    ("operator", "values"),
    [("In", ("a", "b")), ("NotIn", ("a",)), ("Exists", ()), ("DoesNotExist", ()), ("Lt", ("-3",))],
)
def test_what_makes_sense_has_no_fault(operator: str, values: tuple[str, ...]) -> None:
    assert fault(Requirement(key="tier", operator=operator, values=values)) is None


@pytest.mark.parametrize(
    ("label", "want"),
    [
        pytest.param("7", True, id="a number"),
        pytest.param("007", True, id="with zeros before it"),
        pytest.param("5", False, id="not above, but the same"),
        pytest.param("1_0", False, id="underscores are for labels"),
        pytest.param("x", False, id="no number"),
        pytest.param("9223372036854775807", True, id="the largest of 64 bits"),
        pytest.param("9223372036854775808", False, id="one of more than 64 bits"),
    ],
)
def test_a_label_is_above_a_number_if_kubernetes_reads_one_in_it(label: str, *, want: bool) -> None:
    above = Requirement(key="generation", operator="Gt", values=("5",))
    assert meets(above, {"generation": label}) is want


def test_no_label_is_above_two_numbers() -> None:
    above = Requirement(key="generation", operator="Gt", values=("5", "6"))
    assert not meets(above, {"generation": "7"})


@pytest.mark.parametrize(
    ("key", "value", "want"),
    [
        ("disk", "ssd", ""),
        ("example.com/disk", "", ""),
        ("a.b-c_d", "V1.2_3-x", ""),
        ("disk", "very fast", "very fast is no value"),
        ("disk", "-", "- is no value"),
        ("disk", "x" * 64, "is no value"),
        ("", "x", " is no name"),
        ("x" * 64, "x", "is no name"),
        ("Example.com/disk", "x", "before the slash"),
        ("/disk", "x", "before the slash"),
        ("a/b/c", "x", "before the slash"),
    ],
)
def test_a_label_that_no_node_can_have_is_told(key: str, value: str, want: str) -> None:
    told = label_fault(key, value)
    assert want in told
    assert bool(told) is bool(want)
