"""The steps of a gang of two Jobs, as they are."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from queueing.controller.jobs import actions, ladder
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.together import TOGETHER
from queueing.core.names import Key
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

DELETING: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
DONE = {"conditions": [{"type": "Complete", "status": "True"}]}
BROKEN = {"conditions": [{"type": "Failed", "status": "True", "message": "boom"}]}
STARTED = {
    "metadata": {"annotations": {"kueue.x-k8s.io/workload": "w"}},
    "spec": {"containers": [{"name": "c"}], "nodeSelector": {"pool": "a"}},
}
ADMITTED = ("QuotaReserved", "Admitted")


def member(name: str, status: dict[str, Any] | None = None, **more: Any) -> JobView:
    metadata = {
        "name": name,
        "namespace": "team",
        "uid": name,
        "labels": {"kueue.x-k8s.io/queue-name": "lq", "queueing.dev/gang": "g"},
        "annotations": {"queueing.dev/gang-size": "2"},
    }
    document = {
        "metadata": metadata | more.pop("metadata", {}),
        "spec": {"suspend": True, "template": {"spec": {"containers": [{"name": "c"}]}}} | more,
        "status": status or {},
    }
    return batch_job(document)


def running(name: str, **more: Any) -> JobView:
    return member(name, {"active": 1, "ready": 1}, suspend=False, template=STARTED, **more)


A, B = member("a"), member("b")


def workload(*true: str, **metadata: Any) -> Workload:
    """Return the gang's Workload with these conditions True; it holds quota if they say so."""
    document = msgspec.json.decode(gang_workload.compose((A, B), Priority(value=0), ()))
    document["metadata"] |= metadata
    conditions = [{"type": kind, "status": "True", "message": "why"} for kind in true]
    document["status"] = {"conditions": conditions}
    if "QuotaReserved" in true:
        assigned = [{"name": name, "count": 1} for name in ("a", "b")]
        document["status"]["admission"] = {"clusterQueue": "cq", "podSetAssignments": assigned}
    return read(Workload, document)


def step(jobs: Sequence[JobView], workloads: Sequence[Workload]) -> actions.Action | None:
    candidates = [one for one in jobs if not (one.ended or one.metadata.deleting)]
    gang = Gang(
        key=Key("team/g"),
        form=TOGETHER,
        candidates=candidates,
        jobs={one.metadata.uid: one for one in jobs},
        workloads=workloads,
    )
    return ladder.next_action(gang)


@pytest.mark.parametrize(
    ("jobs", "owned", "want"),
    [
        pytest.param([A], [], actions.Tell, id="one is missing: say so"),
        pytest.param([A, B], [], actions.Create, id="all are there: make the Workload"),
        pytest.param([A, running("b")], [], actions.Stop, id="one runs without it: stop"),
        pytest.param([A, B], [workload()], None, id="pending: wait"),
        pytest.param([A, B], [workload(*ADMITTED)], actions.Start, id="admitted: start"),
        pytest.param(
            [A, running("b")], [workload(*ADMITTED)], actions.Start, id="half begun: complete"
        ),
        pytest.param(
            [running("a"), running("b")], [workload(*ADMITTED)], actions.Ready, id="ready: say so"
        ),
        pytest.param(
            [running("a")], [workload(*ADMITTED)], actions.BreakUp, id="one is gone: evict"
        ),
        pytest.param(
            [running("a")],
            [workload(*ADMITTED, "Evicted")],
            actions.Stop,
            id="evicted, one is gone: stop the other",
        ),
        pytest.param(
            [member("a", template=STARTED), B],
            [workload(*ADMITTED, "Evicted")],
            actions.Restore,
            id="evicted, all stopped: restore",
        ),
        pytest.param(
            [A, B], [workload(*ADMITTED, "Evicted")], actions.Release, id="restored: free quota"
        ),
        pytest.param([A], [workload(*ADMITTED, "Evicted")], actions.Discard, id="lost: delete"),
        pytest.param(
            [A, running("b", metadata=DELETING)],
            [workload(*ADMITTED, **DELETING)],
            actions.AwaitPods,
            id="Workload deleted, and a Job: its pods are waited for",
        ),
        pytest.param(
            [member("a", DONE), member("b", DONE)],
            [workload(*ADMITTED)],
            actions.Finish,
            id="all are complete: finish",
        ),
        pytest.param(
            [member("a", BROKEN), running("b")],
            [workload(*ADMITTED)],
            actions.Stop,
            id="one has failed: stop the other",
        ),
        pytest.param(
            [member("a", DONE), running("b")],
            [workload(*ADMITTED, "PodsReady")],
            actions.Reclaim,
            id="one is complete: give its quota back",
        ),
    ],
)
def test_the_next_step(
    jobs: Sequence[JobView], owned: Sequence[Workload], want: type | None
) -> None:
    action = step(jobs, owned)
    assert (type(action) if action is not None else None) == want


def test_a_stopped_member_is_not_marked() -> None:
    action = step([running("a"), running("b")], [workload(*ADMITTED, "Evicted")])
    assert isinstance(action, actions.Stop)
    assert not action.mark
    assert [job.metadata.name for job in action.jobs] == ["a", "b"]
