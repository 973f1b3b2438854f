"""How the garbage collector of the controller's process is set.

Almost all that the controller remembers is made while it lists, and stays. The collector would walk
all of it again and again, in stops of tenths of a second, and find nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (50_000, 20, 100)
"""Objects made before a young collection, and how many of those before each older one."""


@contextmanager
def postponed() -> Iterator[None]:
    """Collect nothing inside; what is alive at the end is never walked again.

    For a process that does nothing else. It may be entered again, by a later term of leadership:
    what an earlier one left behind is collected first.
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
