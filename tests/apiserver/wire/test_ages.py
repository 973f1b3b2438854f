import pytest

from queueing.apiserver.wire.ages import age, duration


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        (-5, "0s"),
        (59, "59s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (660, "11m"),
        (10_800, "3h"),
        (11_100, "3h5m"),
        (36_000, "10h"),
        (200_000, "2d7h"),
        (900_000, "10d"),
    ],
)
def test_durations_read_as_kubectl_prints_them(seconds: int, want: str) -> None:
    assert duration(seconds) == want


def test_a_broken_time_says_so() -> None:
    assert age("soon", 0) == "<invalid>"
