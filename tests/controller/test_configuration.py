from typing import Any

import pytest

from queueing.controller.configuration import controller_rules, lease_settings, policy_rules
from queueing.controller.process.probes import BadAddressError, address_of
from queueing.core.selectors import Requirement
from queueing.core.settings import Compatibility
from queueing_api.config.load import from_document

HEAD = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def rules_for(**configuration: Any) -> Any:
    found = from_document({**HEAD, **configuration})
    return controller_rules(found, Compatibility.QUEUEING, identity="me")


def test_kueues_defaults() -> None:
    got = rules_for()
    assert not got.jobs.without_queue_name
    assert got.jobs.namespaces.requirements == (
        Requirement(
            key="kubernetes.io/metadata.name",
            operator="NotIn",
            values=("kube-system", "kueue-system"),
        ),
    )
    ready = got.life.pods_ready
    assert (ready.timeout_s, ready.backoff.base_s, ready.backoff.limit) == (1800.0, 60.0, None)
    assert got.life.keep_finished_s is None


def test_in_kueue_mode_no_policy_hands_traces_to_pods() -> None:
    found = from_document(HEAD)
    assert policy_rules(found, Compatibility.QUEUEING).hands_trace
    assert not policy_rules(found, Compatibility.KUEUE).hands_trace


def test_what_the_operator_chose() -> None:
    got = rules_for(
        manageJobsWithoutQueueName=True,
        managedJobsNamespaceSelector={
            "matchLabels": {"team": "a"},
            "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}],
        },
        waitForPodsReady={
            "timeout": "5m",
            "recoveryTimeout": "1m",
            "requeuingStrategy": {"backoffBaseSeconds": 10, "backoffLimitCount": 3},
        },
        objectRetentionPolicies={
            "workloads": {"afterFinished": "1h", "afterDeactivatedByKueue": "0s"}
        },
        integrations={"frameworks": ["batch/job"], "labelKeysToCopy": ["cost-centre"]},
    )
    assert got.jobs.without_queue_name
    assert got.jobs.labels_to_copy == ("cost-centre",)
    assert got.jobs.namespaces.requirements == (
        Requirement(key="team", operator="In", values=("a",)),
        Requirement(key="env", operator="NotIn", values=("dev",)),
    )
    ready = got.life.pods_ready
    assert (ready.timeout_s, ready.recovery_timeout_s, ready.backoff.limit) == (300.0, 60.0, 3)
    assert (got.life.keep_finished_s, got.life.keep_deactivated_s) == (3600.0, 0.0)


def test_waiting_for_pods_can_be_switched_off() -> None:
    assert rules_for(featureGates={"DisableWaitForPodsReady": True}).life.pods_ready is None


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [
        pytest.param({}, 5.0, id="by default"),
        pytest.param({"blockAdmission": True}, 0.0, id="others wait for it"),
        pytest.param({"timeout": "30s"}, 0.0, id="the time to get ready is short"),
        pytest.param({"recoveryTimeout": "30s"}, 0.0, id="the time to recover is short"),
    ],
)
def test_that_pods_are_ready_is_told_late_only_where_nothing_depends_on_it(
    waits: dict[str, Any], seconds: float
) -> None:
    assert rules_for(waitForPodsReady=waits).tell_ready_within_s == seconds


def test_the_times_of_leader_election() -> None:
    times = {"leaseDuration": "30s", "renewDeadline": "20s", "retryPeriod": "5s"}
    got = lease_settings(from_document({**HEAD, "leaderElection": times}), "me")
    assert (got.identity, got.duration_s, got.renew_deadline_s, got.retry_s) == ("me", 30, 20, 5)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(":8081", ("0.0.0.0", 8081), id="every interface"),
        pytest.param("127.0.0.1:1", ("127.0.0.1", 1), id="one address"),
        pytest.param("[::1]:80", ("::1", 80), id="IPv6"),
        pytest.param("0", None, id="off"),
    ],
)
def test_addresses(text: str, want: tuple[str, int] | None) -> None:
    assert address_of(text, "field") == want


@pytest.mark.parametrize("text", ["8081", "host:", "host:99999", "host:http"])
def test_a_bad_address_names_its_field(text: str) -> None:
    with pytest.raises(BadAddressError, match="health"):
        address_of(text, "health.healthProbeBindAddress")
