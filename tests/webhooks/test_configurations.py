"""Which webhooks are installed, and that a webhook that is away harms no Job without a queue."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.webhooks.configurations import render
from queueing.webhooks.pods import INJECT
from queueing.webhooks.scope import Scope

INSTALLED = Path(__file__).parents[2] / "config" / "webhook" / "webhooks.yaml"


def webhooks(scope: Scope) -> list[dict[str, Any]]:
    return [one for configuration in render(scope) for one in configuration["webhooks"]]


def test_what_is_installed_is_what_is_rendered_by_default() -> None:
    installed = list(yaml.load_all(INSTALLED.read_text(), Loader=yaml.CSafeLoader))
    assert installed == render(Scope())


@pytest.mark.parametrize("minor", [30, 35])
def test_a_job_without_a_queue_never_waits_for_a_webhook_that_can_refuse_it(minor: int) -> None:
    of_jobs = [
        one for one in webhooks(Scope(minor=minor)) if one["rules"][0]["apiGroups"] == ["batch"]
    ]
    assert of_jobs
    for one in of_jobs:
        conditions = [condition["name"] for condition in one["matchConditions"]]
        assert "namespaceSelector" in one
        assert one["failurePolicy"] == "Ignore" or "queued" in conditions


def test_jobs_are_suspended_by_webhooks_only_where_the_server_has_no_policies() -> None:
    names = {minor: {one["name"] for one in webhooks(Scope(minor=minor))} for minor in (35, 36)}
    of_jobs = {"mjob.kb.io", "mjobwithoutqueue.kb.io", "vjob.kb.io"}
    assert names[35] - names[36] == {*of_jobs, "mpod.kb.io"}


def test_no_pod_is_asked_about_but_those_that_the_admission_labelled() -> None:
    of_pods = [one for one in webhooks(Scope(minor=34)) if "pods" in one["rules"][0]["resources"]]
    (only,) = of_pods
    assert only["objectSelector"] == {"matchExpressions": [{"key": INJECT, "operator": "Exists"}]}
    assert only["rules"][0]["operations"] == ["CREATE"]
    assert only["clientConfig"]["service"]["path"] == "/mutate--v1-pod"


def test_only_queued_jobs_and_labelled_pods_of_an_older_server_wait_for_a_webhook() -> None:
    stopping = {
        minor: [
            one["name"] for one in webhooks(Scope(minor=minor)) if one["failurePolicy"] == "Fail"
        ]
        for minor in (35, 36)
    }
    assert stopping == {35: ["mjob.kb.io", "mpod.kb.io"], 36: []}


def test_names_are_unique() -> None:
    names = [one["name"] for one in webhooks(Scope(minor=34))]
    assert len(names) == len(set(names))


def test_our_own_writes_never_wait_for_ourselves() -> None:
    for one in webhooks(Scope(minor=34)):
        conditions = [condition["name"] for condition in one.get("matchConditions", ())]
        # Only the pod by which it is tried whether pods get their claims asks for an answer.
        assert ("not-ours" in conditions) is (one["name"] != "mpod.kb.io")


def test_nobody_has_to_answer_when_the_definitions_are_removed() -> None:
    (told,) = [one for one in webhooks(Scope()) if one["rules"][0]["operations"] == ["DELETE"]]
    assert told["failurePolicy"] == "Ignore"
    assert told["sideEffects"] == "NoneOnDryRun"
