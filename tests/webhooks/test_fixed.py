"""Changes of objects that are queued, or run: what the descriptions of kinds forbid."""

from copy import deepcopy
from typing import Any

import pytest

from queueing.kinds.paths import put
from queueing.kinds.registry import kind_of
from queueing.webhooks.policies.demand import Demand
from queueing.webhooks.policies.queued import fixed
from queueing.webhooks.rules import OF_POLICIES, bound, program_of
from queueing_api.queueing.v1alpha1.queueable_kind import FixedField
from tests.kinds.rows import ROWS, Wire, sample

SET, GROUPS = "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset"
POD = "spec.template.spec"
CONTAINER = f"{POD}.containers.0"
WORKERS = "spec.leaderWorkerTemplate"


def told(framework: str, path: str, value: Any, *, idle: str = "false") -> list[str]:
    """Return the fixed fields that a change of one field changes; `idle` says that none runs."""
    before = sample(next(row for row in ROWS if row.framework == framework))
    after: Wire = deepcopy(before)
    put(after, tuple(int(one) if one.isdecimal() else one for one in path.split(".")), value)
    demands = [fixed(rule, idle) for rule in kind_of(framework).spec.fixed]
    return [one.path for one in demands if not holds(one, after, before)]


def holds(demand: Demand, new: Wire, old: Wire | None) -> bool:
    return program_of(demand.expression, OF_POLICIES).holds(bound({}, new, old))


@pytest.mark.parametrize(
    ("framework", "path", "value", "fields"),
    [
        (SET, f"{CONTAINER}.image", "other", []),
        (SET, f"{CONTAINER}.resources.limits", {"cpu": "1"}, []),
        (SET, f"{CONTAINER}.resources.requests", {"memory": "9Gi"}, [f"{POD}.containers"]),
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


def test_a_new_object_may_have_any_fields() -> None:
    thing = sample(next(row for row in ROWS if row.framework == SET))
    demands = [fixed(rule, "false") for rule in kind_of(SET).spec.fixed]
    assert all(holds(one, thing, None) for one in demands)


def test_a_field_that_is_fixed_while_an_object_runs_may_change_while_it_is_suspended() -> None:
    rule = FixedField(path="spec.trials")
    before: Wire = {"spec": {"trials": [{"workers": 2}], "paused": False}}
    demand = fixed(rule, "oldObject.spec.paused")
    after: Wire = {"spec": {"trials": []}}
    assert not holds(demand, after, before)
    assert holds(demand, after, {"spec": {**before["spec"], "paused": True}})
    assert holds(demand, after, {"spec": {"paused": False}})
