"""Settings of Python's garbage collector for the controller's process.

Almost all objects that the controller remembers are made by the first lists of a term and stay. The
collector would walk all of them again and again, with pauses of tenths of a second, and find
nothing to free.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (10_000, 5, 2_000)
"""Arguments of `gc.set_threshold`: allocations per collection of the youngest generation, and
collections of a generation per collection of the next older one.

The young generations are small, as a collection walks all that was made since the last one: of a
million objects in a burst of workloads that took half a second."""


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
