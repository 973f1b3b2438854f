"""How much was looked at to find victims."""


class Effort:
    """Counts looks at candidates and at the queues that these are of.

    A count, not a time: the same facts give the same number.
    """

    __slots__ = ("looks",)

    def __init__(self) -> None:
        self.looks = 0
