import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing_api.meta.time import micro_time_text, seconds_of, time_text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-01-31T08:00:00Z", 1769846400.0),
        ("2026-01-31T09:00:00+01:00", 1769846400.0),
        ("2026-01-31T08:00:00.250000Z", 1769846400.25),
    ],
)
def test_a_time_is_seconds_since_the_epoch(text: str, want: float) -> None:
    assert seconds_of(text) == want


@given(st.integers(0, 2**32))
@settings(derandomize=True, deadline=None)
def test_whole_seconds_survive_being_written(seconds: int) -> None:
    assert seconds_of(time_text(seconds)) == seconds
    assert seconds_of(micro_time_text(seconds)) == seconds


def test_parts_of_a_second_are_dropped_where_kubernetes_has_none() -> None:
    assert time_text(1769846400.999) == "2026-01-31T08:00:00Z"
    assert micro_time_text(1769846400.5) == "2026-01-31T08:00:00.500000Z"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-31T08:00:00", "2026-13-01T00:00:00Z"])
def test_a_text_that_is_no_time_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not an RFC 3339 time") as refused:
        seconds_of(text)
    assert repr(text) in str(refused.value)
