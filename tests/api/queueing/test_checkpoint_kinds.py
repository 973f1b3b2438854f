from typing import Any

import pytest
from pydantic import ValidationError

from queueing_api.queueing.v1alpha1 import Checkpoint, CheckpointPolicy
from queueing_api.scheme import decode

POLICY: dict[str, Any] = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "CheckpointPolicy",
    "metadata": {"name": "save", "namespace": "team"},
    "spec": {"driver": "Annotation"},
}
CHECKPOINT: dict[str, Any] = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "Checkpoint",
    "metadata": {"name": "train-1", "namespace": "team"},
    "spec": {
        "workload": {"name": "train", "uid": "u"},
        "requestID": "r1",
        "epoch": 1,
        "reason": "Preempted",
        "policy": "team/save",
        "terms": {"driver": "Annotation"},
        "requestedAt": "2026-01-31T08:00:00.250Z",
        "ackBy": "2026-01-31T08:00:20.250Z",
        "saveBy": "2026-01-31T08:05:20.250Z",
    },
}


def test_a_policy_needs_no_more_than_a_driver() -> None:
    policy = decode(POLICY)
    assert isinstance(policy, CheckpointPolicy)
    spec = policy.spec
    assert (spec.ack_deadline, spec.save_deadline, spec.heartbeat) == ("20s", "5m", "15s")
    assert (spec.on_failure, spec.answer_from, spec.retain) == ("Proceed", "All", 3)
    assert policy.to_wire() == POLICY


def test_a_checkpoint_is_selected_until_it_says_otherwise() -> None:
    checkpoint = decode(CHECKPOINT)
    assert isinstance(checkpoint, Checkpoint)
    assert checkpoint.status.phase == "Selected"
    assert checkpoint.spec.request_id == "r1"
    assert checkpoint.to_wire() == CHECKPOINT


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"driver": "Pigeon"}, id="unknown driver"),
        pytest.param({"ackDeadline": "soon"}, id="no duration"),
        pytest.param({"ackDeadline": "-5s"}, id="a negative duration"),
        pytest.param({"retain": 0}, id="nothing kept"),
        pytest.param({"onFailure": "Veto"}, id="unknown outcome"),
        pytest.param({"driver": "HTTP", "http": {"port": 0}}, id="no port"),
        pytest.param({"driver": "HTTP", "http": {"port": 1, "path": "x?y"}}, id="no path"),
        pytest.param({"driver": "Job", "job": {}}, id="no template"),
        pytest.param({"driver": "Exec", "exec": {"command": []}}, id="no command"),
    ],
)
def test_terms_that_mean_nothing_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CheckpointPolicy.from_wire({**POLICY, "spec": {**POLICY["spec"], **change}})
