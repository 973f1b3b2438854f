"""No law is such that it cannot fail: each is broken by a fault, and stands on the page of laws."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given
from hypothesis import settings as tries

from tests.properties import faults, missteps
from tests.properties.faults import FAULTS, Fault, at_work, named, place_of
from tests.properties.missteps import MISSTEPS, Misstep

LIVES_MAX = 400
BROKEN = {*(named(one.law) for one in FAULTS), *(named(one.test) for one in MISSTEPS)}
PAGE = Path(__file__).parents[2] / "docs" / "laws.md"


def laws() -> Iterator[str]:
    """Give the names of all laws that the modules of this directory try."""
    for name in ("LAWS", "EVERYWHERE"):
        for module in (*vars(faults).values(), *vars(missteps).values()):
            for param in getattr(module, name, ()):
                yield named(param.values[0])


def test_every_law_has_a_fault_that_breaks_it() -> None:
    assert set(laws()) <= BROKEN


def test_every_law_and_every_fault_stands_on_the_page_of_laws() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = [*(one.says for one in FAULTS), *(one.says for one in MISSTEPS)]
    assert not [says for says in told if says not in page]
    assert not [law for law in sorted(BROKEN) if f"`{law}`" not in page]


@pytest.mark.parametrize(
    "where", [*(one.where for one in FAULTS), *(one.where for one in MISSTEPS)]
)
def test_what_a_fault_replaces_is_there(where: str) -> None:
    assert place_of(where)


def is_noticed(fault: Fault, seed: int) -> bool:
    """Say whether the law is broken; a fault that only raises would be noticed by anything."""
    with at_work(fault.where, fault.made):
        try:
            fault.law(fault.life(seed))
        except AssertionError:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("fault", [pytest.param(one, id=one.says) for one in FAULTS])
def test_a_fault_is_noticed_by_its_law(fault: Fault) -> None:
    fault.law(fault.life(fault.seed))
    assert any(is_noticed(fault, seed) for seed in (fault.seed, *range(LIVES_MAX)))


AT_ONCE = tries(
    max_examples=3_000,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
)
"""As long as it takes to notice, and no longer."""


@pytest.mark.slow
@pytest.mark.parametrize("misstep", [pytest.param(one, id=one.says) for one in MISSTEPS])
def test_a_misstep_is_noticed(misstep: Misstep) -> None:
    inner = getattr(misstep.test, "hypothesis", None)
    test = misstep.test if inner is None else inner.inner_test
    with at_work(misstep.where, misstep.made), pytest.raises(AssertionError):
        AT_ONCE(given(*misstep.given)(test))()
