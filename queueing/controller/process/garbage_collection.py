"""Settings of Python's garbage collector for the controller's process.

Almost all objects that the controller remembers are made by the first lists of a term and stay. The
collector would walk all of them again and again, with pauses of tenths of a second, and find
nothing to free.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (2_000, 5, 10_000)
"""Arguments of `gc.set_threshold`: allocations per collection of the youngest generation, and
collections of a generation per collection of the next older one.

Each object that stays is walked twice, however small the young generations are; but all of them are
walked at a stretch, at 2 µs each on a busy machine. So a stretch is 12,000 objects, 25 ms."""


@contextmanager
def postponed() -> Iterator[None]:
    """Collect nothing inside the context; what is alive at its end is never walked again.

    Changes the whole process. A later term of leadership may enter it again: what the earlier term
    left behind becomes collectable, and is collected at the end of the context.
    """
    gc.unfreeze()
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        gc.enable()
