"""Changes of objects that are queued, or run."""

from copy import deepcopy
from typing import Any

import pytest

from queueing.kinds.fixed import changed_fields
from queueing.kinds.paths import put, spelled
from queueing.kinds.registry import kind_of
from tests.kinds.rows import ROWS, Wire, sample

SET, GROUPS = "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset"
POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.0"
WORKERS = "spec.leaderWorkerTemplate"


def told(framework: str, path: str, value: Any, *, running: bool = False) -> list[str]:
    """Return the fixed fields that a change of one field changes."""
    before = sample(next(row for row in ROWS if row.framework == framework))
    after: Wire = deepcopy(before)
    put(after, tuple(int(one) if one.isdecimal() else one for one in path.split(".")), value)
    return list(map(spelled, changed_fields(kind_of(framework), before, after, running=running)))


@pytest.mark.parametrize(
    ("framework", "path", "value", "fields"),
    [
        (SET, f"{CONTAINER}.image", "other", []),
        (SET, f"{CONTAINER}.resources.limits", {"cpu": "1"}, []),
        (
            SET,
            f"{CONTAINER}.resources.requests",
            {"memory": "9Gi"},
            [f"{POD}.containers[0].resources.requests"],
        ),
        (SET, f"{CONTAINER}.ports", [], []),
        (SET, f"{POD}.containers", [], [f"{POD}.containers"]),
        (SET, f"{POD}.nodeSelector", {"a": "b"}, [f"{POD}.nodeSelector"]),
        (SET, "spec.replicas", 0, []),
        (GROUPS, f"{WORKERS}.size", 5, [f"{WORKERS}.size"]),
        (
            GROUPS,
            f"{WORKERS}.workerTemplate.spec.tolerations",
            [{"key": "a"}],
            [f"{WORKERS}.workerTemplate.spec.tolerations"],
        ),
    ],
)
def test_what_quota_depends_on_must_not_change_while_pods_are_queued(
    framework: str, path: str, value: Any, fields: list[str]
) -> None:
    assert told(framework, path, value) == fields
