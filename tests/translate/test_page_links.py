"""Where the page shows a workload."""

import pytest

from queueing.translate.page_links import page_problem, workload_page


@pytest.mark.parametrize(
    ("page", "want"),
    [
        pytest.param("", "", id="the address is not known"),
        pytest.param("https://q/ui", "https://q/ui/namespaces/team/workloads/a", id="usual"),
        pytest.param("https://q/ui/", "https://q/ui/namespaces/team/workloads/a", id="a slash"),
    ],
)
def test_a_workload_has_an_address_below_that_of_the_page(page: str, want: str) -> None:
    assert workload_page(page, "team", "a") == want


@pytest.mark.parametrize(
    "url", ["https://queueing.example.com/ui", "http://localhost:8080/ui/", "https://q"]
)
def test_addresses_of_pages_are_good(url: str) -> None:
    assert page_problem(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "queueing/ui",
        "javascript:alert(1)",
        "https://",
        "https://q/ui?a=b",
        "https://q/#x",
        "https://q/ u",
    ],
)
def test_other_texts_are_none(url: str) -> None:
    assert page_problem(url).startswith("must ")
