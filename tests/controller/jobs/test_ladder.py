from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from queueing.controller.jobs import actions, ladder
from queueing.controller.jobs.membership import alone
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.composition import Origin, Priority, compose
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Condition
from queueing.translate.wire.workloads import ReclaimablePod, Workload
from tests.batch_jobs import batch_job

HELD = ["kueue.x-k8s.io/resource-in-use"]
DELETING: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}
STOPPING = {"annotations": {"kueue.x-k8s.io/stopping": "true"}}
STARTED = {
    "metadata": {"annotations": {"kueue.x-k8s.io/workload": "w"}},
    "spec": {"containers": [{"name": "c"}], "nodeSelector": {"pool": "a"}},
}


def job(status: dict[str, Any] | None = None, **more: Any) -> JobView:
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    metadata = {"name": "train", "namespace": "team", "uid": "u", "labels": labels}
    document = {
        "metadata": metadata | more.pop("metadata", {}),
        "spec": {"suspend": True, "template": {"spec": {"containers": [{"name": "c"}]}}} | more,
        "status": status or {},
    }
    return batch_job(document)


RUNNING = job(suspend=False, template=STARTED, status={"active": 1, "ready": 1})
ORIGIN = Origin(kind=job().kind, metadata=job().metadata)


def workload(*true: str, of: JobView | None = None, **metadata: Any) -> Workload:
    """Return the Job's Workload with these conditions True; it holds quota if they say so."""
    found = of or job()
    origin = Origin(kind=found.kind, metadata=found.metadata)
    bodies = compose(origin, found.wire_pod_sets(), Priority(value=0))
    document = msgspec.json.decode(bodies)
    document["metadata"] |= metadata
    conditions = [{"type": kind, "status": "True", "message": "why"} for kind in true]
    document["status"] = {"conditions": conditions}
    if "QuotaReserved" in true:
        assignment = {"name": "main", "count": 1}
        document["status"]["admission"] = {
            "clusterQueue": "cq",
            "podSetAssignments": [assignment],
        }
    return read(Workload, document)


def step(found: JobView, owned: Sequence[Workload]) -> actions.Action | None:
    """Return the next step for a Job by itself."""
    return ladder.next_action(alone(found, owned))


ADMITTED = ("QuotaReserved", "Admitted")


@pytest.mark.parametrize(
    ("found", "owned", "want"),
    [
        pytest.param(job(), [], actions.Create, id="new: make the Workload"),
        pytest.param(job(suspend=False), [], actions.Stop, id="running without one: stop"),
        pytest.param(job(metadata=DELETING), [], None, id="being deleted: make none"),
        pytest.param(job(status=COMPLETE), [], None, id="done before it was seen: make none"),
        pytest.param(job(), [workload()], None, id="pending: wait"),
        pytest.param(job(), [workload("QuotaReserved")], None, id="checks pending: wait"),
        pytest.param(job(), [workload(*ADMITTED)], actions.Start, id="admitted: start"),
        pytest.param(job(metadata=DELETING), [workload(*ADMITTED)], None, id="dying: do not start"),
        pytest.param(RUNNING, [workload()], actions.Stop, id="running, not admitted: stop"),
        pytest.param(
            RUNNING, [workload("Admitted")], actions.Stop, id="admitted without quota: stop"
        ),
        pytest.param(
            job(), [workload("Admitted")], None, id="admitted without quota: do not start"
        ),
        pytest.param(RUNNING, [workload(*ADMITTED)], actions.Ready, id="pods are ready: say so"),
        pytest.param(
            RUNNING, [workload(*ADMITTED, "PodsReady")], None, id="ready and said: nothing"
        ),
        pytest.param(
            job(suspend=False, template=STARTED, status={"active": 1}),
            [workload(*ADMITTED, "PodsReady")],
            actions.Ready,
            id="a pod was lost: say so",
        ),
        pytest.param(RUNNING, [workload(*ADMITTED, "Evicted")], actions.Stop, id="evicted: stop"),
        pytest.param(
            job(template=STARTED, status={"active": 1}),
            [workload(*ADMITTED, "Evicted")],
            None,
            id="pods still run: wait",
        ),
        pytest.param(
            job(template=STARTED, status={"terminating": 1}),
            [workload(*ADMITTED, "Evicted")],
            None,
            id="pods still terminate: wait",
        ),
        pytest.param(
            job(template=STARTED),
            [workload(*ADMITTED, "Evicted")],
            actions.Restore,
            id="no pods left: restore",
        ),
        pytest.param(
            job(metadata=STOPPING),
            [workload(*ADMITTED, "Evicted")],
            actions.Restore,
            id="nothing to restore but the mark of a stop: take it away",
        ),
        pytest.param(
            job(),
            [workload(*ADMITTED, "Evicted")],
            actions.Release,
            id="restored: free the quota",
        ),
        pytest.param(
            job(metadata=STOPPING, status={"terminating": 1}),
            [workload(*ADMITTED)],
            None,
            id="admitted while it stops: wait for its pods",
        ),
        pytest.param(
            job(metadata=STOPPING),
            [workload(*ADMITTED)],
            actions.Restore,
            id="admitted while it stops: end the stop first",
        ),
        pytest.param(
            job(metadata=STOPPING),
            [workload()],
            actions.Restore,
            id="left by a crash in its stop: end the stop",
        ),
        pytest.param(
            job(status=COMPLETE, suspend=False),
            [workload(*ADMITTED)],
            actions.Finish,
            id="complete: finish",
        ),
        pytest.param(
            job(status=COMPLETE),
            [workload("Finished")],
            actions.LetGo,
            id="finished: let go",
        ),
        pytest.param(
            job(status=COMPLETE), [workload("Finished", finalizers=[])], None, id="let go: nothing"
        ),
        pytest.param(
            RUNNING, [workload("Finished")], actions.Stop, id="declared finished, yet running: stop"
        ),
        pytest.param(
            RUNNING, [workload(*ADMITTED, **DELETING)], actions.Stop, id="Workload deleted: stop"
        ),
        pytest.param(
            job(template=STARTED),
            [workload(*ADMITTED, **DELETING)],
            actions.Restore,
            id="Workload deleted, stopped: restore",
        ),
        pytest.param(
            job(),
            [workload(*ADMITTED, **DELETING)],
            actions.LetGo,
            id="Workload deleted: let go",
        ),
        pytest.param(
            job(suspend=False, template=STARTED, metadata=DELETING),
            [workload(*ADMITTED, **DELETING)],
            actions.AwaitPods,
            id="both deleted: let go once no pod is left",
        ),
        pytest.param(
            job(metadata=DELETING),
            [workload(**DELETING)],
            actions.LetGo,
            id="both deleted, no quota held: let go",
        ),
        pytest.param(
            job(), [workload(**DELETING, finalizers=[])], None, id="Workload about to go: wait"
        ),
        pytest.param(job(parallelism=2), [workload()], actions.Match, id="edited: match"),
        pytest.param(
            job(template=STARTED),
            [workload()],
            actions.Match,
            id="edited to what a started one looks like: match",
        ),
        pytest.param(
            job(parallelism=2),
            [workload("QuotaReserved")],
            actions.Discard,
            id="edited with quota reserved: discard",
        ),
        pytest.param(
            job(parallelism=2, suspend=False),
            [workload(*ADMITTED)],
            actions.Stop,
            id="edited while running: stop",
        ),
        pytest.param(
            job(parallelism=2, template=STARTED),
            [workload(*ADMITTED)],
            actions.Restore,
            id="edited while running, stopped: restore first",
        ),
        pytest.param(
            job(metadata={"labels": {"kueue.x-k8s.io/queue-name": "other"}}),
            [workload()],
            actions.Follow,
            id="another queue: follow",
        ),
        pytest.param(
            job(metadata={"labels": {"kueue.x-k8s.io/queue-name": "other"}}),
            [workload("QuotaReserved")],
            None,
            id="another queue with quota reserved: immutable",
        ),
        pytest.param(
            job(),
            [workload(), workload(name="copy")],
            actions.Discard,
            id="two Workloads: one is too many",
        ),
        pytest.param(
            job(),
            [workload(), workload(name="copy", **DELETING)],
            actions.LetGo,
            id="the other is dying: let it go",
        ),
    ],
)
def test_the_next_write(found: JobView, owned: list[Workload], want: type | None) -> None:
    action = step(found, owned)
    assert (type(action) if action is not None else None) == want


@pytest.mark.parametrize(
    ("found", "owned", "marked"),
    [
        pytest.param(job(suspend=False), [], False, id="no Workload to restore it from"),
        pytest.param(RUNNING, [workload()], True, id="not admitted"),
        pytest.param(RUNNING, [workload(*ADMITTED, "Evicted")], True, id="evicted"),
        pytest.param(RUNNING, [workload("Finished")], True, id="declared finished"),
    ],
)
def test_a_stopped_job_is_marked_where_a_workload_has_its_template(
    found: JobView, owned: list[Workload], *, marked: bool
) -> None:
    action = step(found, owned)
    assert isinstance(action, actions.Stop)
    assert action.mark is marked


def test_of_two_workloads_the_one_with_quota_stays() -> None:
    kept = workload("QuotaReserved", name="copy")
    action = step(job(), [workload(), kept])
    assert isinstance(action, actions.Discard)
    assert action.workload.metadata.name == ORIGIN.name


def test_a_tail_that_needs_fewer_pods_gives_quota_back() -> None:
    tail = job(
        suspend=False,
        parallelism=3,
        completions=4,
        status={"active": 2, "ready": 2, "succeeded": 2},
    )
    whole = job(parallelism=3, completions=4)
    action = step(tail, [workload(*ADMITTED, "PodsReady", of=whole)])
    assert isinstance(action, actions.Reclaim)
    assert action.counts == {"main": 1}


def test_pods_that_were_given_back_are_not_taken_again() -> None:
    tail = {"suspend": False, "parallelism": 3, "completions": 4}
    whole = workload(*ADMITTED, "PodsReady", of=job(parallelism=3, completions=4))
    whole = msgspec.structs.replace(
        whole,
        status=msgspec.structs.replace(
            whole.status, reclaimable_pods=[ReclaimablePod(name="main", count=2)]
        ),
    )
    for succeeded, want in ((2, None), (3, None), (4, actions.Reclaim)):
        found = job(status={"active": 1, "ready": 3, "succeeded": succeeded}, **tail)
        action = step(found, [whole])
        assert (type(action) if action is not None else None) == want


def test_what_frees_quota_is_written_before_what_only_tells() -> None:
    running = job(
        {"active": 1, "ready": 1, "succeeded": 2},
        suspend=False,
        parallelism=3,
        completions=3,
    )
    assert isinstance(
        step(running, [workload("QuotaReserved", "Admitted", of=running)]),
        actions.Reclaim,
    )


@pytest.mark.parametrize(
    ("held", "set_aside", "quota", "want"),
    [
        pytest.param(True, False, ADMITTED, actions.PutOnHold, id="it gives its quota back"),
        pytest.param(True, False, (), actions.PutOnHold, id="it is queued no more"),
        pytest.param(True, True, (), None, id="it is left as it is, though it is not suspended"),
        pytest.param(False, True, (), actions.Stop, id="it may run no longer"),
    ],
)
def test_a_job_on_hold_is_neither_stopped_nor_queued(
    *, held: bool, set_aside: bool, quota: tuple[str, ...], want: type | None
) -> None:
    owned = workload(*quota)
    if set_aside:
        owned.status.conditions.append(
            read(Condition, {"type": "Requeued", "status": "False", "reason": "OnHold"})
        )
    action = step(replace(RUNNING, on_hold=held), [owned])
    assert (None if action is None else type(action)) is want


EVICTED = (*ADMITTED, "Evicted")


@pytest.mark.parametrize(
    ("found", "conditions", "want"),
    [
        pytest.param(RUNNING, EVICTED, actions.Stop, id="it is stopped"),
        pytest.param(job(template=STARTED), EVICTED, actions.Restore, id="it is restored"),
        pytest.param(job(), EVICTED, actions.Release, id="it gives its quota back"),
        pytest.param(job(), ("Evicted",), actions.PutOnHold, id="then it is queued no more"),
    ],
)
def test_a_job_on_hold_that_is_evicted_is_stopped_like_others(
    found: JobView, conditions: tuple[str, ...], want: type
) -> None:
    assert isinstance(step(replace(found, on_hold=True), [workload(*conditions)]), want)


def test_a_job_that_is_on_hold_no_more_is_queued_once_it_is_suspended() -> None:
    owned = workload()
    held = {"type": "Requeued", "status": "False", "reason": "OnHold"}
    owned.status.conditions.append(read(Condition, held))
    assert isinstance(step(job(), [owned]), actions.TakeOffHold)


@pytest.mark.parametrize(
    ("action", "seconds"),
    [
        pytest.param(
            actions.LetGo(workload("Finished")), ladder.LET_GO_WITHIN_S, id="it has ended"
        ),
        pytest.param(
            actions.LetGo(workload("Finished", deletionTimestamp="2026-01-01T00:00:00Z")),
            0.0,
            id="somebody waits for it to go",
        ),
        pytest.param(actions.Ready(workload("Admitted"), ready=True), 5.0, id="pods are ready"),
        pytest.param(actions.Ready(workload("Admitted"), ready=False), 0.0, id="pods were lost"),
        pytest.param(actions.Release(workload("Evicted")), 0.0, id="quota is given back"),
        pytest.param(actions.Finish(workload("Admitted"), "Succeeded", ""), 0.0, id="the end"),
        pytest.param(actions.Start(workload("Admitted"), ()), 0.0, id="a start"),
    ],
)
def test_only_what_nobody_waits_for_can_wait(action: actions.Action, seconds: float) -> None:
    assert ladder.patience_s(action, 5.0) == seconds
