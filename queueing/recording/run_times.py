"""How long work ran lately, by queue and shape: a little memory that finished workloads fill.

It can be rebuilt at any time from the finished Workloads that are still stored.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from queueing.core.facts import WorkloadFact

KEPT = 64
"""Run times that are kept of each group, the latest."""
GROUPS_MAX = 2_048
"""Groups that are kept; of more, those that heard of nobody for longest are forgotten."""


def ran_s(fact: WorkloadFact) -> float | None:
    """Return how long the last run of a finished workload took; None if it never ran."""
    admitted, finished = fact.conditions.get("Admitted"), fact.conditions.get("Finished")
    if admitted is None or finished is None or not admitted.status or not finished.status:
        return None
    return max(0.0, finished.changed - admitted.changed)


def groups(fact: WorkloadFact) -> Iterator[Hashable]:
    """Yield the groups that a workload belongs to, the narrowest first; the last is everybody."""
    shape = tuple((one.count, tuple(sorted(one.requests.items()))) for one in fact.pod_sets)
    yield fact.local_queue, fact.priority, shape
    yield fact.local_queue, shape
    yield fact.local_queue
    yield None


@dataclass(slots=True)
class RunTimes:
    """Run times in seconds, by group."""

    _kept: dict[Hashable, deque[float]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return how many groups are kept."""
        return len(self._kept)

    @classmethod
    def of(cls, facts: Iterable[WorkloadFact]) -> "RunTimes":
        """Return what finished workloads tell, the latest last."""
        made = cls()
        ended = [one for one in facts if one.finished]
        for fact in sorted(ended, key=lambda one: one.conditions["Finished"].changed):
            made.note(fact)
        return made

    def note(self, fact: WorkloadFact) -> None:
        """Remember how long a finished workload ran."""
        took_s = ran_s(fact)
        if took_s is not None:
            self.add(fact, took_s)

    def add(self, fact: WorkloadFact, seconds: float) -> None:
        """Remember seconds for a workload's groups."""
        for group in groups(fact):
            kept = self._kept.pop(group, None) or deque(maxlen=KEPT)
            kept.append(seconds)
            self._kept[group] = kept
        while len(self._kept) > GROUPS_MAX:
            del self._kept[next(iter(self._kept))]

    def of_group(self, group: Hashable) -> Sequence[float]:
        """Return what is kept of a group."""
        return self._kept.get(group, ())
