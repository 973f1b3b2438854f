"""Leaves out the names of workloads that the asker may not read.

A team may ask about its own workloads and LocalQueues. Who else holds the quota is told by queue,
amount and time; which workload of another namespace that is, only to who may read the ClusterQueue.
"""

import re

import msgspec

from queueing.explain.model import HIDDEN, Explanation, QueueExplanation


def redacted(answer: Explanation, namespace: str) -> Explanation:
    """Return an answer that names workloads of one namespace only."""
    known = {name for name in _named(answer) if not name.startswith(f"{namespace}/")}
    if not known:
        return answer
    names = sorted(known, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<![\w./-]){re.escape(one)}(?![\w-]|\.\w)" for one in names))
    plain = msgspec.to_builtins(answer)
    made: Explanation = msgspec.convert(_without(plain, pattern), Explanation)
    return made


def _named(answer: Explanation) -> set[str]:
    """Return all workloads that an answer names."""
    if isinstance(answer, QueueExplanation):
        return {one.first for one in answer.groups}
    found = {one.workload for one in answer.holders}
    for one in answer.remedies:
        found.update(one.victims)
    if answer.if_first is not None:
        found.update(answer.if_first.victims)
    if answer.place is not None:
        found.update((answer.place.first, *answer.place.ahead))
    found.update(
        one.object.removeprefix("Workload ")
        for one in answer.blockers
        if one.object.startswith("Workload ")
    )
    return found


def _without(value: object, pattern: re.Pattern[str]) -> object:
    if isinstance(value, str):
        return pattern.sub(HIDDEN, value)
    if isinstance(value, list | tuple):
        return [_without(one, pattern) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, pattern) for key, one in value.items()}
    return value
