"""CheckpointPolicies that are refused, and why: asked of our own rules and of a real API server."""

from typing import Any

import pytest

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("no time to answer", {"ackDeadline": "0s"}, "longer than 0s"),
    ("no time to save", {"saveDeadline": "0s"}, "longer than 0s"),
    ("no time to end", {"terminationGrace": "0s"}, "longer than 0s"),
    ("more than a day", {"saveDeadline": "25h"}, "at most 24h"),
    ("a delay of more than a day", {"refusalDelayMax": "25h"}, "at most 24h"),
    ("fresh for more than a day", {"freshEnough": "25h"}, "at most 24h"),
    ("force after more than a day", {"forceDeleteAfter": "25h"}, "at most 24h"),
    ("idle for no time", {"idleAfter": "0s"}, "longer than 0s"),
    ("backwards", {"saveDeadlineMax": "1s"}, "must not be shorter than saveDeadline"),
    ("no beat", {"heartbeat": "1h"}, "must not be longer than saveDeadline"),
    ("nowhere to post to", {"driver": "HTTP"}, "needs http.port"),
    ("no Job", {"driver": "Job"}, "needs job.template"),
    ("nothing to run", {"driver": "Exec"}, "needs exec.command"),
    ("nobody leads", {"answerFrom": "Leader"}, "answerFrom Leader needs"),
]
"""Name, what is set in the spec beside the driver Annotation, and part of the refusal."""

each_case = pytest.mark.parametrize(
    ("spec", "said"), [pytest.param(spec, said, id=name) for name, spec, said in CASES]
)
