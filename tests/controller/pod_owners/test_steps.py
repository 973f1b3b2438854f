"""What is due for the Workloads of an object, by the object and its Workloads as they are."""

from typing import Any

import msgspec
import pytest

from queueing.controller.jobs.actions import (
    Discard,
    Follow,
    LetGo,
    Match,
    PutOnHold,
    TakeOffHold,
)
from queueing.controller.pod_owners.steps import (
    CreateGroup,
    GroupSeen,
    LookAgain,
    steps_of,
)
from queueing.kinds.grouping import groups_of
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.registry import kind_of
from queueing.translate import labels
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.group_workload import compose_group
from queueing.translate.wire.workloads import Workload
from tests.kinds.rows import ROWS, sample

LWS = "leaderworkerset.x-k8s.io/leaderworkerset"
Wire = dict[str, Any]
RESERVED = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"}
WAITS = {"type": "Requeued", "status": "False", "reason": "OnHold"}
ENDED = {"type": "Finished", "status": "True", "reason": "OutOfSync"}
DELETED = "2026-01-01T00:00:00Z"


def owner(framework: str, replicas: int, **metadata: Any) -> DescribedJob:
    row = next(one for one in ROWS if one.framework == framework)
    thing = sample(row)
    thing["spec"]["replicas"] = replicas
    thing["metadata"] |= metadata
    return read_job(kind_of(framework), msgspec.json.encode(thing), lambda _: None)


def made(job: DescribedJob, *conditions: Wire, number: int = 0, **metadata: Any) -> Workload:
    """Return the Workload that a group of an object gets, later on."""
    group = list(groups_of(job))[number]
    body = msgspec.json.decode(compose_group(group, job.wire_pod_sets(), Priority(value=0)))
    body["metadata"] |= {"uid": group.name, **metadata}
    body["status"] = {"conditions": list(conditions)}
    return msgspec.json.decode(msgspec.json.encode(body), type=Workload)


def steps(job: DescribedJob, *workloads: Workload, has_pods: bool = False) -> list[type]:
    rules = job.source.kind.hooks.pod_groups
    assert rules is not None
    groups = {one.name: one for one in groups_of(job)} if not job.metadata.deleting else {}
    seen = [GroupSeen(one, has_pods) for one in workloads]
    return [type(one) for one in steps_of(job, rules, groups, seen)]


FULL, ZERO = owner("statefulset", 3), owner("statefulset", 0)
FEWER, OTHER = owner("statefulset", 2), owner("statefulset", 3, labels={labels.QUEUE_NAME: "b"})
LEAVES = owner("statefulset", 3, deletionTimestamp=DELETED)


@pytest.mark.parametrize(
    ("job", "workload", "has_pods", "want"),
    [
        pytest.param(FULL, made(FULL), False, [], id="waiting"),
        pytest.param(FULL, made(FULL, RESERVED), True, [], id="running"),
        pytest.param(FEWER, made(FULL), False, [Match], id="fewer pods while it waits"),
        pytest.param(FEWER, made(FULL, RESERVED), True, [], id="fewer pods while it runs"),
        pytest.param(OTHER, made(FULL), False, [Follow], id="another queue"),
        pytest.param(ZERO, made(FULL, RESERVED), True, [LookAgain], id="to zero, with pods"),
        pytest.param(ZERO, made(FULL, RESERVED), False, [PutOnHold], id="to zero"),
        pytest.param(ZERO, made(FULL), False, [PutOnHold], id="to zero before it ran"),
        pytest.param(ZERO, made(FULL, WAITS), False, [], id="at zero"),
        pytest.param(FULL, made(FULL, WAITS), False, [TakeOffHold], id="from zero"),
        pytest.param(FEWER, made(FULL, WAITS), False, [Match], id="from zero with fewer pods"),
        pytest.param(FULL, made(FULL, ENDED), True, [Discard], id="ended, though it serves"),
        pytest.param(
            FULL, made(FULL, deletionTimestamp=DELETED), True, [LookAgain], id="deleted, with pods"
        ),
        pytest.param(FULL, made(FULL, deletionTimestamp=DELETED), False, [LetGo], id="deleted"),
        pytest.param(LEAVES, made(FULL, RESERVED), False, [], id="its owner is deleted"),
    ],
)
def test_what_is_due_for_the_workload_of_a_stateful_set(
    job: DescribedJob, workload: Workload, has_pods: bool, want: list[type]
) -> None:
    assert steps(job, workload, has_pods=has_pods) == want


def test_a_workload_is_made_unless_no_pods_are_asked_for() -> None:
    assert steps(FULL) == [CreateGroup]
    assert steps(ZERO) == []


def test_groups_come_and_go_with_the_replicas_of_a_leader_worker_set() -> None:
    two, one = owner(LWS, 2), owner(LWS, 1)
    first, second = (made(two, RESERVED, number=at) for at in range(2))
    assert steps(two, first) == [CreateGroup]
    assert steps(two, first, second) == []
    assert steps(one, first, second) == [Discard]


def test_while_it_is_updated_a_leader_worker_set_keeps_the_groups_that_it_has_beside() -> None:
    def updating(surge: int | str, updated: int) -> int:
        row = next(one for one in ROWS if one.framework == LWS)
        thing = sample(row)
        rolling = {"rollingUpdateConfiguration": {"maxSurge": surge}}
        thing["spec"] |= {"replicas": 2, "rolloutStrategy": rolling}
        thing["status"] = {"replicas": 3, "updatedReplicas": updated}
        job = read_job(kind_of(LWS), msgspec.json.encode(thing), lambda _: None)
        assert job.problem == ""
        return len(list(groups_of(job)))

    assert [updating(1, 1), updating("50%", 1), updating(1, 2), updating(0, 1)] == [3, 3, 2, 2]
