"""Placement gives what a plain implementation of the reference gives, whatever happened before."""

import pytest

from queueing.core.topology.searching import SearchTerms
from tests.core.topology.random_worlds import PROFILES, answer, plain_answer, requests, world

TURNS = 25


@pytest.mark.parametrize("seed", range(120))
def test_answers_are_those_of_the_text_after_any_events(seed: int) -> None:
    made = world(seed)
    profile = PROFILES[seed % len(PROFILES)]
    for turn in range(TURNS):
        for _ in range(made.random.randrange(3)):
            made.change()
        terms = SearchTerms(profile=profile, empty=made.random.random() < 0.2)
        asked = requests(made)
        got, want = answer(made, asked, terms), plain_answer(made, asked, terms)
        assert got == want, (turn, terms, asked, made.nodes)
