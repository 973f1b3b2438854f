"""What stands between a test and the cluster, and is taken away when the test ends."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Closed when the block ends in which it is used."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
