"""What the serving process and the controller say to each other."""

import pytest

from queueing.serving.frames import domain_of, part_of


@pytest.mark.parametrize(
    ("part", "domain"),
    [
        ("", ()),
        ("a", ("a",)),
        ("a/r1", ("a", "r1")),
        ("/", ("",)),
        ("/r1", ("", "r1")),
        ("a//", ("a", "")),
        ("//", ("", "")),
    ],
)
def test_a_domain_is_spelled_whatever_its_names(part: str, domain: tuple[str, ...]) -> None:
    assert part_of(domain) == part
    assert domain_of(part) == domain


def test_a_slash_behind_a_name_says_nothing() -> None:
    assert domain_of("a/r1/") == ("a", "r1")
