"""What is told of Jobs that start with a policy."""

from dataclasses import dataclass, field

import msgspec
import pytest

from queueing.checkpoints.shell.starting import warn_of_grace
from queueing.checkpoints.wire.objects import CheckpointPolicy
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.core.names import Key
from queueing.core.settings import Compatibility
from queueing.kube.events import EventNote, EventType, Regarding
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.queues import ClusterQueue
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.checkpoints.shell.save_harness import POLICY, policy

WORKLOAD = msgspec.convert(
    {
        "metadata": {"name": "w", "namespace": "team", "uid": "w"},
        "status": {"admission": {"clusterQueue": "cq"}},
    },
    Workload,
)


@dataclass
class Told:
    """Keeps what is recorded."""

    notes: list[tuple[str, EventNote]] = field(default_factory=list)

    def record(self, regarding: Regarding, note: EventNote) -> None:
        self.notes.append((regarding.name, note))


def surroundings(grace: str, bound: str) -> Objects:
    """Return a policy of the team, and one of the queue where that bounds it."""
    found = Objects()
    marks = {POLICY: "team/bound"} if bound else {}
    queue = {"metadata": {"name": "cq", "annotations": marks}}
    found.cluster_queues["cq"] = msgspec.convert(queue, ClusterQueue)
    terms = {"save": grace, "bound": bound}
    for name, given in terms.items():
        if given:
            made = policy(name, terminationGrace=given)
            found.checkpoints.policies[Key(f"team/{name}")] = msgspec.convert(
                made, CheckpointPolicy
            )
    return found


def job(seconds: int | None, *, named: bool) -> JobView:
    spec = {} if seconds is None else {"terminationGracePeriodSeconds": seconds}
    notes = {POLICY: "save"} if named else {}
    made = {
        "metadata": {"name": "j", "namespace": "team", "uid": "j", "annotations": notes},
        "spec": {"template": {"spec": spec}},
    }
    return batch_job(made)


@pytest.mark.parametrize(
    ("seconds", "grace", "bound", "want"),
    [
        pytest.param(None, "1m", "", "they are killed: 30", id="pods have half a minute"),
        pytest.param(0, "1s", "", "they are killed: 0", id="pods have no time at all"),
        pytest.param(60, "1m", "", "", id="as long as promised"),
        pytest.param(None, "30s", "", "", id="a policy that promises what is usual"),
        pytest.param(None, "1m", "20s", "", id="the queue promises less"),
        pytest.param(10, "", "20s", "team/bound: terminationGrace 20s", id="the queue's policy"),
        pytest.param(10, "", "", "", id="nobody promises anything"),
    ],
)
def test_a_job_whose_pods_are_killed_before_the_promised_grace_is_told(
    seconds: int | None, grace: str, bound: str, want: str
) -> None:
    told = Told()
    events = Events(told, Compatibility.QUEUEING)
    made = job(seconds, named=bool(grace))
    warn_of_grace(surroundings(grace, bound), events, WORKLOAD, [made])
    assert len(told.notes) == bool(want)
    for name, note in told.notes:
        assert (name, note.reason, note.type) == ("j", "CheckpointGraceTooLong", EventType.WARNING)
        assert want in note.message
