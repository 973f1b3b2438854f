"""How the calibration of estimates is scored."""

from math import inf

from bench.eta import Case, is_met, summed_up

NARROW = (9.0, 11.0)


def case(truth: float, nearly: tuple[float, float], oracle: tuple[float, float] = NARROW) -> Case:
    return Case(truth, nearly, nearly, oracle)


def test_a_range_without_an_end_is_scored_and_has_no_width() -> None:
    row = summed_up([case(10.0, (8.0, 12.0)), case(10.0, (5.0, inf)), case(10.0, (11.0, inf))])
    assert (row["cases"], row["unknown"], row["open"]) == (3, 0, 2)
    assert row["in 90 %"] == 2 / 3
    assert row["times the oracle's"] == 2.0


def test_what_is_not_told_is_not_scored() -> None:
    row = summed_up([case(10.0, (inf, inf)), case(10.0, (8.0, 12.0))])
    assert (row["unknown"], row["in 90 %"]) == (1, 1.0)


def test_a_bar_is_missed_by_what_does_not_hold_and_by_what_is_too_wide() -> None:
    assert is_met(summed_up([case(10.0, (8.0, 12.0))]))
    assert not is_met(summed_up([case(20.0, (8.0, 12.0))]))
    assert not is_met(summed_up([case(10.0, (0.0, 12.0))]))
    assert not is_met(summed_up([case(10.0, (5.0, inf))]))
