"""What a real API server lets into a CheckpointPolicy, beside the table of `test_validation`."""

import pytest

from e2e.cluster import Cluster
from e2e.objects import checkpoint_policy
from e2e.wire import ApiError, Object
from e2e.world import World


def policy(space: World, **spec: object) -> Object:
    terms = {"driver": "Annotation", **spec}
    return checkpoint_policy(space.namespace, space.name("save"), terms)


def test_a_driver_that_nobody_knows_is_refused(space: World, installed: Cluster) -> None:
    with pytest.raises(ApiError, match="Unsupported value"):
        space.make(policy(space, driver="Pigeon"))


def test_defaults_are_filled_in_and_columns_shown(space: World, installed: Cluster) -> None:
    made = policy(space)
    space.make(made)
    found = space.api.get("CheckpointPolicy", made["metadata"]["name"], space.namespace)
    assert found["spec"]["ackDeadline"] == "20s"
    assert found["spec"]["onFailure"] == "Proceed"
    shown = installed.kubectl("get", "checkpointpolicies", "-n", space.namespace)
    assert "DRIVER" in shown.stdout, shown.stderr


def test_a_request_that_saved_nothing_yet_shows_no_time_of_saving(
    space: World, installed: Cluster
) -> None:
    stamp = "2026-01-31T08:00:00Z"
    space.make(
        {
            "apiVersion": "queueing.dev/v1alpha1",
            "kind": "Checkpoint",
            "metadata": {"name": "train-1", "namespace": space.namespace},
            "spec": {
                "workload": {"name": "train", "uid": "u"},
                "requestID": "r",
                "epoch": 1,
                "reason": "Preempted",
                "policy": "team/save",
                "terms": {"driver": "Annotation"},
                "requestedAt": stamp,
                "ackBy": stamp,
                "saveBy": stamp,
            },
        }
    )
    shown = installed.kubectl("get", "checkpoints", "-n", space.namespace)
    header, row = shown.stdout.splitlines()
    assert header.split() == [
        "NAME",
        "WORKLOAD",
        "REASON",
        "PHASE",
        "OUTCOME",
        "STEP",
        "SAVED",
        "AGE",
    ]
    assert "unknown" not in row, shown.stdout
