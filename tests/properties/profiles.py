"""How long the laws are tried: one life with the fast tests, over a hundred at length.

At length, Hypothesis draws lives and shrinks them. A seeded generator gives several times as many
in the same time; what fails there is cut down to the steps and objects that it takes.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from random import SystemRandom
from typing import TypeVar
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from tests.lengths import lengths
from tests.lives.random_events import (
    EVERYTHING,
    SIZE,
    Life,
    Table,
    some_life,
    some_opening,
    some_step,
)
from tests.lives.random_worlds import MODES, by_seed, some_settings, some_world

T = TypeVar("T")
Law = Callable[[Life], None]
Hold = Callable[..., None]
"""`hold` or `hold_at_length`."""

QUEUEING = MODES[:3]
"""All but the mode in which the differences from Kueue are off."""
SEEDS_ALWAYS = 3
MANY = 10
SEEDS_MANY = 114
SEEDS = 2**32
LIFE_MAX_S = 120.0
"""CPU seconds that a law may take in one life; most take less than one."""

profile = tries(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.nested_given,
    ],
)


@st.composite
def _some(draw: st.DrawFn, make: Callable[..., object], *rest: object) -> object:
    return make(lambda options: draw(st.sampled_from(options)), *rest)


def lives(
    rare: Table = EVERYTHING, *, modes: Sequence[str] = MODES, size: int = SIZE
) -> st.SearchStrategy[Life]:
    """Draw lives as `some_life` chooses them; steps can be left out one by one."""
    least = st.integers(1, size // 2)  # longer lists than would be drawn otherwise
    steps = least.flatmap(
        lambda number: st.lists(_some(some_step, rare), min_size=number, max_size=size)
    )
    return st.builds(
        lambda settings, facts, first, then: Life(settings, facts, [*first, *then]),
        _some(some_settings, modes),
        _some(some_world),
        _some(some_opening),
        steps,
    )


def hold(law: Law, mode: str, rare: Table = EVERYTHING, *, size: int = SIZE) -> None:
    """Try a law in one life, always the same; each law and mode has another."""
    life_of = partial(seeded, mode=mode, rare=rare, size=size)
    try_lives(law, life_of, mode, [_own_seed(law, mode)])


def hold_at_length(law: Law, mode: str, rare: Table = EVERYTHING, *, size: int = SIZE) -> None:
    """Try a law in over a hundred lives, others each time but for a few."""
    first = _own_seed(law, mode)
    life_of = partial(seeded, mode=mode, rare=rare, size=size)
    try_lives(law, life_of, mode, range(first, first + SEEDS_ALWAYS))
    try_lives(law, life_of, mode, others_each_time(SEEDS_MANY))
    _draw(
        law,
        lives(rare, modes=[mode], size=size),
        tries(profile, max_examples=MANY, derandomize=False, print_blob=True),
    )


AT_BOTH_LENGTHS = lengths("hold", hold, hold_at_length)


def seeded(seed: int, mode: str, rare: Table = EVERYTHING, *, size: int = SIZE) -> Life:
    """Return the life of a number."""
    return some_life(by_seed(seed), rare, modes=[mode], size=size)


def _draw(law: Law, strategy: st.SearchStrategy[Life], settings: tries) -> None:
    @settings
    @given(strategy)
    def run(life: Life) -> None:
        law(life)

    run()


def try_lives(law: Law, life_of: Callable[[int], Life], mode: str, seeds: Iterable[int]) -> None:
    """Try a law in the lives of some numbers; the report has what of a life it takes to fail."""
    for seed in seeds:
        life = life_of(seed)
        with named_if_endless(f"{seed} of {mode}"):
            error = _failure(law, life)
        if error is not None:
            small = cut_down(law, life, type(error))
            found = _failure(law, small) or error
            shown = "\n  ".join(map(repr, [small.settings, *small.facts, *small.steps]))
            raise AssertionError(
                f"life {seed} of {mode} breaks {_name_of(law)}: {found!r}\n  {shown}"
            ) from found


def look_until(wanted: Mapping[str, int], lives: Iterable[Counter[str]]) -> None:
    """Live until all that is wanted has happened as often as it says; fail if it never has."""
    seen: Counter[str] = Counter()
    lacking = dict(wanted)
    for one in lives:
        seen.update(one)
        lacking = {what: least for what, least in wanted.items() if seen[what] < least}
        if not lacking:
            break
    assert lacking == {}


def others_each_time(number: int) -> range:
    """Return numbers of as many lives, that nobody tried before."""
    first = SystemRandom().randrange(SEEDS)
    return range(first, first + number)


@contextmanager
def named_if_endless(life: str, most_s: float = LIFE_MAX_S) -> Iterator[None]:
    """Fail with the name of a life that does not end: nobody could find it again without.

    It is not cut down, as that would take as long for each part.
    """

    def give_up(*_: object) -> None:
        pytest.fail(f"life {life} took more than {most_s:.0f}s of CPU")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, most_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _own_seed(law: Law, mode: str) -> int:
    return crc32(f"{_name_of(law)} {mode}".encode())


def _name_of(law: Law) -> str:
    return str(getattr(law, "__name__", law))


def _failure(law: Law, life: Life) -> Exception | None:
    try:
        law(life)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return error
    return None


def cut_down(law: Law, life: Life, kind: type[Exception]) -> Life:
    """Leave out steps and objects as long as the law fails in the same way without them."""

    def fails(made: Life) -> bool:
        return type(_failure(law, made)) is kind

    before = 0
    while before != (before := len(life.steps) + len(life.facts)):
        now = life
        steps = _least(now.steps, lambda some: fails(replace(now, steps=some)))  # noqa: B023 - called at once
        facts = _least(now.facts, lambda some: fails(replace(now, steps=steps, facts=some)))  # noqa: B023 - called at once
        life = replace(now, steps=steps, facts=facts)
    return life


def _least(whole: list[T], fails: Callable[[list[T]], bool]) -> list[T]:
    """Leave out runs, of half the length and then ever less, that are not needed to fail."""
    length = max(1, len(whole) // 2)
    while length:
        at = 0
        while at < len(whole):
            rest = whole[:at] + whole[at + length :]
            if fails(rest):
                whole = rest
            else:
                at += length
        length //= 2
    return whole
