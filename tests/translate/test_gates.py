import re
from pathlib import Path

import pytest

import queueing
from queueing.translate.configuration import GATES
from queueing.translate.gates import (
    FIXED_ON,
    HONOURED,
    LOCKED,
    Fate,
    fate,
    locked_off,
    page,
    without_effect,
)

SOURCES = {
    path: path.read_text()
    for path in Path(queueing.__path__[0]).rglob("*.py")
    if path.name not in {"gates.py", "unheeded.py"}
}


def _is_read(gate: str) -> bool:
    """Say whether anything but the list of gates names this one in quotes."""
    return any(re.search(rf'["\.]{gate}"', text) for text in SOURCES.values())


@pytest.mark.parametrize("gate", sorted(GATES))
def test_a_gate_is_honoured_exactly_if_it_is_read(gate: str) -> None:
    assert (fate(gate)[0] is Fate.HONOURED) is _is_read(gate)
    assert f"| `{gate}` |" in page()


def test_every_gate_of_the_tables_is_one_of_kueue() -> None:
    assert HONOURED.keys() | FIXED_ON.keys() <= GATES.keys()
    assert not HONOURED.keys() & FIXED_ON.keys()
    assert FIXED_ON.keys() >= LOCKED


def test_what_is_switched_to_no_effect_is_named() -> None:
    switched = {"ShortWorkloadNames": True, "PartialAdmission": False, "MultiKueue": True}
    assert without_effect(switched) == ("ShortWorkloadNames",)
    assert without_effect({"FinishOrphanedWorkloads": False}) == ("FinishOrphanedWorkloads",)


def test_a_gate_that_is_locked_in_kueue_cannot_be_off() -> None:
    assert locked_off({"TLSOptions": False, "PartialAdmission": False}) == ("TLSOptions",)
    assert locked_off({"TLSOptions": True}) == ()
