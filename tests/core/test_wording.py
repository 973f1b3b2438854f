"""Amounts and selectors as Kubernetes spells and reads them."""

import pytest

from queueing.core.names import ResourceName
from queueing.core.quantities import quantity
from queueing.core.selectors import Requirement, Selector, meets, selects


@pytest.mark.parametrize(
    ("resource", "amount", "want"),
    [
        ("cpu", 0, "0"),
        ("cpu", 1, "1m"),
        ("cpu", 1_500, "1500m"),
        ("cpu", 2_000, "2"),
        ("cpu", 2_000_000, "2k"),
        ("memory", 1_023, "1023"),
        ("memory", 2**30, "1Gi"),
        ("memory", 3 * 2**19, "1536Ki"),
        ("memory", 10**9, "1000000000"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("nvidia.com/gpu", 8, "8"),
        ("nvidia.com/gpu", 3_000, "3k"),
        ("memory", -(2**20), "-1Mi"),
    ],
)
def test_amounts_print_in_canonical_form(resource: str, amount: int, want: str) -> None:
    assert quantity(ResourceName(resource), amount) == want


@pytest.mark.parametrize(
    ("operator", "values", "labels", "want"),
    [
        ("In", ("a", "b"), {"k": "b"}, True),
        ("In", ("a",), {}, False),
        ("NotIn", ("a",), {}, True),
        ("NotIn", ("a",), {"k": "a"}, False),
        ("Exists", (), {"k": ""}, True),
        ("Exists", (), {}, False),
        ("DoesNotExist", (), {}, True),
        ("Gt", ("3",), {"k": "10"}, True),
        ("Gt", ("10",), {"k": "3"}, False),
        ("Lt", ("10",), {"k": "3"}, True),
        ("Lt", ("10",), {"k": "three"}, False),
        ("Like", ("a",), {"k": "a"}, False),
    ],
)
def test_requirements(
    operator: str, values: tuple[str, ...], labels: dict[str, str], *, want: bool
) -> None:
    assert meets(Requirement(key="k", operator=operator, values=values), labels) is want


def test_no_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert not selects(None, {"a": "b"})
    assert selects(Selector(), {})
