"""CheckpointPolicy and Checkpoint: what their definitions say beyond the schema.

As with credits, each rule stands in the definition, too, with the same words.
"""

from collections.abc import Iterator

from queueing.webhooks.findings import Finding, Wire, immutable, invalid
from queueing_api.config.duration import seconds_of

DAY_S = 86_400.0
TIMES = (
    "ackDeadline",
    "saveDeadline",
    "heartbeat",
    "terminationGrace",
    "saveDeadlineMax",
    "forceDeleteAfter",
    "freshEnough",
    "refusalDelayMax",
    "idleAfter",
)
USUAL = {"saveDeadline": "5m", "heartbeat": "15s"}
"""Defaults of the schema that others are compared with."""
NEEDS = {
    "HTTP": ("http", "driver HTTP needs http.port, where the pods listen"),
    "Job": ("job", "driver Job needs job.template, the Job that saves"),
    "Exec": ("exec", "driver Exec needs exec.command, what is run in the container"),
}
"""What each driver needs, and the words for its absence."""


def check_checkpoint_policy(policy: Wire) -> list[Finding]:
    """Return all that is wrong with a CheckpointPolicy that its schema let in."""
    spec = {**USUAL, **(policy.get("spec") or {})}
    return [*_times(spec), *_order(spec), *_parts(spec)]


def check_checkpoint(checkpoint: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a Checkpoint: what was asked never changes."""
    spec = checkpoint.get("spec") or {}
    changed = old is not None and spec != (old.get("spec") or {})
    return [immutable("spec", spec)] if changed else []


def _times(spec: Wire) -> Iterator[Finding]:
    for field in TIMES:
        value = spec.get(field)
        if value is not None and not 0 < seconds_of(str(value)) <= DAY_S:
            told = f"{field} must be longer than 0s and at most 24h"
            yield invalid(f"spec.{field}", value, told)
    runtime = spec.get("minimumRuntime")
    if runtime is not None and seconds_of(str(runtime)) > DAY_S:
        yield invalid("spec.minimumRuntime", runtime, "minimumRuntime must be at most 24h")


def _order(spec: Wire) -> Iterator[Finding]:
    save_s = seconds_of(str(spec["saveDeadline"]))
    longest = spec.get("saveDeadlineMax")
    if longest is not None and seconds_of(str(longest)) < save_s:
        told = "saveDeadlineMax must not be shorter than saveDeadline"
        yield invalid("spec.saveDeadlineMax", longest, told)
    if seconds_of(str(spec["heartbeat"])) > save_s:
        told = "heartbeat must not be longer than saveDeadline"
        yield invalid("spec.heartbeat", spec["heartbeat"], told)


def _parts(spec: Wire) -> Iterator[Finding]:
    driver = spec.get("driver")
    field, told = NEEDS.get(str(driver), ("", ""))
    if field and spec.get(field) is None:
        yield invalid(f"spec.{field}", driver, told)
    if spec.get("answerFrom") == "Leader" and spec.get("leader") is None:
        told = "answerFrom Leader needs leader, a selector of pods"
        yield invalid("spec.leader", "Leader", told)
