"""The next step for an elastic job, by its slices as they are."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from queueing.controller.jobs import actions, ladder
from queueing.controller.jobs.membership import alone
from queueing.controller.jobs.slices import found
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.composition import Origin, Priority, compose
from queueing.translate.jobs.slices import OUT_OF_SYNC, REPLACED
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import ReclaimablePod, Workload
from tests.batch_jobs import batch_job

DELETING: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
RESERVED = ("QuotaReserved",)
ADMITTED = ("QuotaReserved", "Admitted")
EVICTED = (*ADMITTED, "Evicted")
STARTED: dict[str, Any] = {
    "metadata": {
        "annotations": {
            "kueue.x-k8s.io/workload": "first",
            "kueue.x-k8s.io/workload-slice-name": "first",
        }
    },
    "spec": {
        "containers": [{"name": "c"}],
        "nodeSelector": {"pool": "a"},
        "schedulingGates": [{"name": "kueue.x-k8s.io/elastic-job"}],
    },
}


def job(
    pods: int, *, runs: bool = True, status: Any = None, image: str = "", **meta: Any
) -> JobView:
    container = {"name": "c", "image": image} if image else {"name": "c"}
    template: dict[str, Any] = {"spec": {"containers": [container]}}
    if runs:
        template = {**STARTED, "spec": {**STARTED["spec"], "containers": [container]}}
    metadata = {
        "name": "train",
        "namespace": "team",
        "uid": "u",
        "generation": 7,
        "labels": {"kueue.x-k8s.io/queue-name": "lq"},
        "annotations": {"kueue.x-k8s.io/elastic-job": "true"},
        **meta,
    }
    spec = {"suspend": not runs, "parallelism": pods, "template": template}
    running = {"active": pods, "ready": pods} if runs else {}
    return batch_job({"metadata": metadata, "spec": spec, "status": status or running})


def a_slice(
    name: str, pods: int, *true: str, after: str = "", done: str = "", **metadata: Any
) -> Workload:
    """Return a slice of so many pods; `after` is the one that it replaces."""
    of = job(pods, runs=False)
    before = Meta(name=after, namespace="team", annotations={}) if after else None
    origin = Origin(kind=of.kind, metadata=of.metadata, generation="1", replaced=before)
    document = msgspec.json.decode(compose(origin, of.wire_pod_sets(), Priority(value=0)))
    document["metadata"] |= {"name": name, "uid": name, **metadata}
    conditions = [{"type": kind, "status": "True", "message": "why"} for kind in true]
    if done:
        conditions.append({"type": "Finished", "status": "True", "reason": done, "message": ""})
    document["status"] = {"conditions": conditions}
    if "QuotaReserved" in true:
        held = [{"name": "main", "count": pods}]
        document["status"]["admission"] = {"clusterQueue": "cq", "podSetAssignments": held}
    return read(Workload, document)


def step(of: JobView, *owned: Workload) -> actions.Action | None:
    form, shown = found(owned, "7")
    return ladder.next_action(alone(of, shown, form))


FIRST = a_slice("first", 2, *ADMITTED, "PodsReady")
WAITS = a_slice("second", 4, after="first")
SECOND = a_slice("second", 4, *ADMITTED, "PodsReady", after="first")
AWAY = a_slice("first", 2, *EVICTED)
PENDING = a_slice("first", 2)
STOPPED = job(2, runs=False)


@pytest.mark.parametrize(
    ("of", "owned", "want"),
    [
        pytest.param(STOPPED, [], actions.Create, id="new: make the first slice"),
        pytest.param(job(2), [], actions.Stop, id="running without a slice: stop"),
        pytest.param(STOPPED, [PENDING], None, id="pending: wait"),
        pytest.param(job(4, runs=False), [PENDING], actions.Match, id="pending, resized: match"),
        pytest.param(STOPPED, [FIRST], actions.Start, id="admitted: start"),
        pytest.param(job(2), [FIRST], None, id="runs as it is: nothing"),
        pytest.param(job(2, status={"active": 2}), [FIRST], actions.Ready, id="a pod is lost: say"),
        pytest.param(
            job(2, status={"active": 2}),
            [a_slice("first", 2, *ADMITTED)],
            actions.Ungate,
            id="pods are not ready: let go of those that wait",
        ),
        pytest.param(job(4), [FIRST], actions.Grow, id="grows: make another slice"),
        pytest.param(job(4, runs=False), [FIRST], actions.Grow, id="grows before it starts"),
        pytest.param(
            job(1, status={"active": 1, "ready": 1}),
            [FIRST],
            actions.Ungate,
            id="shrinks: look at its pods",
        ),
        pytest.param(job(1, runs=False), [FIRST], actions.Resize, id="shrinks before it starts"),
        pytest.param(
            job(1, runs=False, status={"active": 2}),
            [FIRST],
            actions.Start,
            id="suspended and shrinks while its pods run: it shrinks when it runs again",
        ),
        pytest.param(
            job(1, runs=False, status={"terminating": 1}),
            [FIRST],
            actions.Start,
            id="suspended and shrinks while its pods end: it shrinks when it runs again",
        ),
        pytest.param(job(5), [FIRST, WAITS], actions.Resize, id="grows more: the slice follows"),
        pytest.param(job(3), [FIRST, WAITS], actions.Resize, id="grows less: the slice follows"),
        pytest.param(job(2), [FIRST, WAITS], actions.Supersede, id="as before: take the wish back"),
        pytest.param(job(1), [FIRST, WAITS], actions.Supersede, id="smaller: take the wish back"),
        pytest.param(job(4), [FIRST, SECOND], actions.Supersede, id="admitted: the first is done"),
        pytest.param(
            job(4, status={"active": 4, "ready": 4}),
            [a_slice("first", 2, done=REPLACED, finalizers=None), SECOND],
            None,
            id="replaced: run on",
        ),
        pytest.param(
            job(4, status={"active": 4, "ready": 2}),
            [FIRST, WAITS],
            None,
            id="waits to grow: its pods are ready as before",
        ),
        pytest.param(
            job(4, status={"active": 4, "ready": 2}),
            [SECOND],
            actions.Ready,
            id="has grown: its new pods are not ready yet",
        ),
        pytest.param(
            job(4),
            [FIRST, a_slice("second", 4, *RESERVED, after="first")],
            None,
            id="its checks are pending: run on",
        ),
        pytest.param(
            job(5),
            [FIRST, a_slice("second", 4, *RESERVED, after="first")],
            None,
            id="grows more while checks are pending: later",
        ),
        pytest.param(
            job(4),
            [FIRST, a_slice("second", 4, *RESERVED, "Evicted", after="first")],
            actions.Release,
            id="a check failed: give its quota back",
        ),
        pytest.param(job(2), [AWAY], actions.Stop, id="evicted: stop"),
        pytest.param(job(4), [AWAY, WAITS], actions.Supersede, id="evicted: the wish goes along"),
        pytest.param(
            STOPPED, [AWAY], actions.Release, id="evicted and stopped: give the quota back"
        ),
        pytest.param(job(4), [AWAY, SECOND], actions.Stop, id="evicted, another admitted: stop"),
        pytest.param(
            job(4, runs=False),
            [AWAY, SECOND],
            actions.Supersede,
            id="evicted and stopped, another admitted: go on with that",
        ),
        pytest.param(
            job(4),
            [AWAY, a_slice("second", 4, *EVICTED, after="first")],
            actions.Supersede,
            id="both evicted: the first is done",
        ),
        pytest.param(job(2, image="new"), [FIRST], actions.Stop, id="another template: stop"),
        pytest.param(job(4, **DELETING), [FIRST], None, id="being deleted: grows no more"),
        pytest.param(
            job(2, status={"conditions": [{"type": "Complete", "status": "True"}]}),
            [FIRST, WAITS],
            actions.Supersede,
            id="ended: the wish goes first",
        ),
        pytest.param(
            job(2, status={"conditions": [{"type": "Complete", "status": "True"}]}),
            [FIRST],
            actions.Finish,
            id="ended: finish",
        ),
        pytest.param(
            job(4),
            [a_slice("first", 2, done=REPLACED), SECOND],
            actions.LetGo,
            id="a slice that is done is let go",
        ),
        pytest.param(
            job(2),
            [FIRST, a_slice("second", 4, after="first", **DELETING)],
            actions.LetGo,
            id="the wish is being deleted: let it go",
        ),
        pytest.param(
            job(2), [a_slice("first", 2, *ADMITTED, **DELETING)], actions.Stop, id="deleted: stop"
        ),
    ],
)
def test_the_next_step_is(
    of: JobView, owned: Sequence[Workload], want: type[actions.Action] | None
) -> None:
    action = step(of, *owned)
    assert type(action) is (want or type(None))


def superseded(action: actions.Action | None) -> tuple[str, str]:
    assert isinstance(action, actions.Supersede)
    return action.workload.metadata.name, action.reason


def test_the_slice_that_was_replaced_finishes_in_kueues_words() -> None:
    action = step(job(4), FIRST, SECOND)
    assert superseded(action) == ("first", REPLACED)
    assert isinstance(action, actions.Supersede)
    told = "Replaced to accommodate a workload (UID: second, JobUID: u)"
    assert action.message == f"{told} due to workload slice aggregation"


@pytest.mark.parametrize(
    ("of", "owned"),
    [
        pytest.param(job(2), [FIRST, WAITS], id="as before"),
        pytest.param(job(4), [AWAY, WAITS], id="evicted"),
        pytest.param(
            job(2, status={"conditions": [{"type": "Failed", "status": "True"}]}),
            [FIRST, WAITS],
            id="ended",
        ),
    ],
)
def test_a_wish_that_is_over_is_out_of_sync(of: JobView, owned: Sequence[Workload]) -> None:
    assert superseded(step(of, *owned)) == ("second", OUT_OF_SYNC)


def test_pods_that_are_needed_again_are_told_before_their_slice_shrinks() -> None:
    of = job(2, status={"active": 2, "ready": 2, "succeeded": 0})
    held = a_slice("first", 4, *ADMITTED, "PodsReady")
    needless = [ReclaimablePod(name="main", count=2)]
    status = msgspec.structs.replace(held.status, reclaimable_pods=needless)
    told = msgspec.structs.replace(held, status=status)
    action = step(of, told)
    assert isinstance(action, actions.Reclaim)
    assert action.counts == {"main": 0}


def test_slices_of_the_same_second_are_told_apart_by_what_they_replace() -> None:
    second, third = SECOND, a_slice("a-third", 6, *ADMITTED, after="second")
    assert superseded(step(job(6), third, second)) == ("second", REPLACED)
