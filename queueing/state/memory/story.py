"""The last events of each workload, for people who ask why it waits."""

from queueing.core.decisions import Admit, Decision, Outcome, Preempt, Verdict
from queueing.core.names import Key

LENGTH = 12
"""Entries kept per workload."""

Entry = tuple[float, Decision | Outcome]
Story = tuple[Entry, ...]
"""Oldest first."""


class Stories:
    """Decisions and outcomes by workload, made into sentences only by `read`.

    A story is a tuple because every workload has one, and a short list wastes half of its memory.
    """

    __slots__ = ("_stories",)

    def __init__(self) -> None:
        self._stories: dict[Key, Story] = {}

    def add(self, key: Key, now: float, event: Decision | Outcome) -> None:
        """Append an event to the story of a workload, unless it equals the last one."""
        known = self._stories.get(key)
        if known is None:
            self._stories[key] = ((now, event),)
            return
        last = known[-1][1]
        # Most events are of another type than the last, and types are cheaper to compare.
        if type(event) is not type(last) or event != last:
            self._stories[key] = (*known[1 - LENGTH :], (now, event))

    def forget(self, key: Key) -> None:
        self._stories.pop(key, None)

    def read(self, key: Key) -> tuple[str, ...]:
        """Return the story as sentences, oldest first, each after its time in epoch seconds."""
        return tuple(f"{now:.3f} {_sentence(event)}" for now, event in self._stories.get(key, ()))


def _sentence(event: Decision | Outcome) -> str:
    match event:
        case Admit(cluster_queue=queue, borrowing=borrowing, checks=checks):
            extra = " borrowing" if borrowing else ""
            pending = f", checks pending: {', '.join(checks)}" if checks else ""
            return f"admitted by {queue}{extra}{pending}"
        case Preempt(preemptor=preemptor, preemptor_queue=queue, reason=reason):
            return f"preempted for {preemptor} of {queue}: {reason}"
        case Outcome(decision=decision, verdict=verdict, message=message):
            what = "admission" if isinstance(decision, Admit) else "preemption"
            why = f": {message}" if message and verdict is not Verdict.DONE else ""
            return f"write of the {what}: {verdict}{why}"
        case _:
            return f"waits ({event.requeue}), {event.reason}: {event.message}"
