from math import inf

import pytest

from queueing.core.admission_fair_sharing import (
    consumed,
    decay,
    in_units,
    local_usage,
    penalty,
    whole_units,
)
from queueing.core.names import ResourceName
from queueing.core.settings import GRAINS, AdmissionFairSharing

CPU, MEMORY = ResourceName("cpu"), ResourceName("memory")


@pytest.mark.parametrize(
    ("elapsed", "half_life", "want"),
    [
        pytest.param(0, 60, 0.0, id="no time"),
        pytest.param(60, 60, 0.5, id="one half-life"),
        pytest.param(120, 60, 0.75, id="two half-lives"),
        pytest.param(60, 0, 0.0, id="no half-life"),
    ],
)
def test_decay(elapsed: float, half_life: float, want: float) -> None:
    assert decay(elapsed, half_life) == want


def test_history_moves_towards_what_is_admitted() -> None:
    got = consumed({CPU: 8.0}, {CPU: 4.0, MEMORY: 2.0}, elapsed_s=60, half_life_s=60)
    assert got == {CPU: 6.0, MEMORY: 1.0}


def test_without_half_life_history_starts_empty() -> None:
    assert consumed({CPU: 8.0}, {CPU: 4.0}, elapsed_s=60, half_life_s=0) == {}


def test_an_admission_is_charged_ahead_by_one_sampling_interval() -> None:
    settings = AdmissionFairSharing(half_life_s=300, sampling_interval_s=300)
    charged = penalty({CPU: 4_000, MEMORY: 1}, settings)
    assert in_units(charged, settings) == {CPU: 2.0, MEMORY: 0.5}


@pytest.mark.parametrize(
    ("grains", "want"),
    [
        pytest.param(1_000, {1: 0.0, 4: 0.001}, id="as Kueue, cut down to thousandths"),
        pytest.param(GRAINS, {1: 0.000343763, 4: 0.001375055}, id="fine enough for one core"),
    ],
)
def test_what_is_less_than_a_grain_is_not_charged(grains: int, want: dict[int, float]) -> None:
    """A week of half-life, and five minutes between samples: a core is charged 0.34 thousandths."""
    settings = AdmissionFairSharing(half_life_s=604_800, sampling_interval_s=300, grains=grains)
    for cores, units in want.items():
        assert in_units(penalty({CPU: cores * 1_000}, settings), settings) == {CPU: units}


@pytest.mark.parametrize(
    ("weight", "want"),
    [
        pytest.param(1.0, 7.5, id="weight one"),
        pytest.param(2.0, 3.75, id="twice the weight, half the usage"),
        pytest.param(0.0, inf, id="weight zero is always last"),
    ],
)
def test_usage_of_a_local_queue(weight: float, want: float) -> None:
    got = local_usage(
        {CPU: 4.0, MEMORY: 10.0}, {CPU: 3.0}, weights={MEMORY: 0.05}, queue_weight=weight
    )
    assert got == want


def test_cpu_counts_in_cores() -> None:
    assert (whole_units(CPU, 1_500), whole_units(MEMORY, 1_500)) == (1.5, 1_500.0)
