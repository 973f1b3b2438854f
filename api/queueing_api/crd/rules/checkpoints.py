"""Rules of CheckpointPolicy and Checkpoint."""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule

_REQUIRED: Final = ("ackDeadline", "saveDeadline", "heartbeat", "terminationGrace")
_OPTIONAL: Final = (
    "saveDeadlineMax",
    "forceDeleteAfter",
    "freshEnough",
    "refusalDelayMax",
    "idleAfter",
)
_BOUNDS: Final = tuple(
    Rule(
        "spec",
        f"!has(self.{field}) || (duration(self.{field}) > duration('0s')"
        f" && duration(self.{field}) <= duration('24h'))",
        f"{field} must be longer than 0s and at most 24h",
        field=f".{field}",
    )
    for field in (*_REQUIRED, *_OPTIONAL)
)
CHECKPOINT_POLICY: Final = (
    *_BOUNDS,
    Rule(
        "spec",
        "!has(self.minimumRuntime) || duration(self.minimumRuntime) <= duration('24h')",
        "minimumRuntime must be at most 24h",
        field=".minimumRuntime",
    ),
    Rule(
        "spec",
        "!has(self.saveDeadlineMax) || duration(self.saveDeadlineMax)"
        " >= duration(self.saveDeadline)",
        "saveDeadlineMax must not be shorter than saveDeadline",
        field=".saveDeadlineMax",
    ),
    Rule(
        "spec",
        "duration(self.heartbeat) <= duration(self.saveDeadline)",
        "heartbeat must not be longer than saveDeadline",
        field=".heartbeat",
    ),
    Rule(
        "spec",
        "self.driver != 'HTTP' || has(self.http)",
        "driver HTTP needs http.port, where the pods listen",
        field=".http",
    ),
    Rule(
        "spec",
        "self.driver != 'Job' || has(self.job)",
        "driver Job needs job.template, the Job that saves",
        field=".job",
    ),
    Rule(
        "spec",
        "self.driver != 'Exec' || has(self.exec)",
        "driver Exec needs exec.command, what is run in the container",
        field=".exec",
    ),
    Rule(
        "spec",
        "self.answerFrom != 'Leader' || has(self.leader)",
        "answerFrom Leader needs leader, a selector of pods",
        field=".leader",
    ),
)
CHECKPOINT: Final = (Rule("spec", "self == oldSelf", FIELD_IS_IMMUTABLE),)
