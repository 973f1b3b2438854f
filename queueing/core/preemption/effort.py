"""The effort of searches for victims, which counts in the budget of a cycle."""


class Effort:
    """Counts the candidates, and the queues with candidates, that searches look at.

    It is a count and not a time, so that the same facts give the same number.
    """

    __slots__ = ("looks",)

    def __init__(self) -> None:
        self.looks = 0
