"""Which LocalQueues have metrics, by `metrics.localQueueMetrics.localQueueSelector`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.names import Key
from queueing.core.selectors import Selector, selects
from queueing.translate.wire.queues import LocalQueue


@dataclass(slots=True)
class ChosenQueues:
    """The choice by labels, and what it came to when somebody scraped last."""

    selector: Selector
    queues: Mapping[Key, LocalQueue]
    _seen: dict[Key, bool] = field(default_factory=dict)

    def __contains__(self, key: Key) -> bool:
        """Say whether a LocalQueue has metrics; one that does not exist has no labels."""
        queue = self.queues.get(key)
        return selects(self.selector, queue.metadata.labels if queue is not None else {})

    def changed(self) -> list[Key]:
        """Return the LocalQueues that are chosen now and were not before, or the other way."""
        seen, self._seen = self._seen, {key: key in self for key in self.queues}
        return [key for key, chosen in self._seen.items() if seen.get(key) is not chosen]
