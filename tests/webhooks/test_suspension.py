"""Kinds that a field suspends: which are on, and what is rendered for them."""

import pytest

from queueing.controller.admission_policies.rendering import PolicyRules, render
from queueing.core.selectors import Selector
from queueing.webhooks import configurations
from queueing.webhooks.admission import mutate
from queueing.webhooks.jobs import DefaultingContext, default_job
from queueing.webhooks.policies import render as validating
from queueing.webhooks.rules import has_managed_owner
from queueing.webhooks.scope import Scope
from queueing.webhooks.suspension import JOB, QueuedKind, kinds_of, kinds_on, name_with
from queueing_api.config.v1beta2 import Configuration

TRAINING = kinds_on(["kubeflow.org/pytorchjob", "jobset.x-k8s.io/jobset"], {})


def rules(*kinds: QueuedKind) -> PolicyRules:
    return PolicyRules(
        namespaces=Selector(), without_queue_name=False, namespace="kueue-system", kinds=kinds
    )


def test_the_configuration_turns_kinds_on_and_jobs_always_are() -> None:
    assert kinds_on([], {}) == (JOB,)
    assert {one.kind for one in TRAINING} == {"Job", "JobSet", "PyTorchJob"}
    assert {one.kind for one in kinds_on(["pod", "deployment"], {})} == {"Deployment", "Job"}


def test_a_kind_with_a_gate_is_on_only_with_it() -> None:
    spark = ["sparkoperator.k8s.io/sparkapplication"]
    assert kinds_on(spark, {}) == (JOB,)
    assert len(kinds_on(spark, {"SparkApplicationIntegration": True})) == 2


def test_kinds_with_one_field_share_the_policies_that_change_objects() -> None:
    found = {
        wire["metadata"]["name"]: [
            one["resources"][0] for one in wire["spec"]["matchConstraints"]["resourceRules"]
        ]
        for _, wire in render(rules(*TRAINING))
        if "suspend" in wire["metadata"]["name"] and "matchConstraints" in wire["spec"]
    }
    assert list(found.values()) == [["pytorchjobs"], ["jobs", "jobsets"]]


def test_each_kind_has_a_policy_of_its_own_that_refuses() -> None:
    names = [one["metadata"]["name"] for one in validating.render(Scope(kinds=TRAINING))]
    assert "queueing-validate-jobs" in names
    assert "queueing-validate-jobsets.jobset.x-k8s.io" in names
    assert "queueing-validate-pytorchjobs.kubeflow.org-beside-a-default-queue" in names


def test_two_fields_never_share_a_name() -> None:
    fields = ["spec.suspend", "spec.paused", "spec.Paused", "spec.pa-used", "spec.pa_used"]
    assert len({name_with("policy", one) for one in fields}) == len(fields)
    assert name_with("policy", "spec.suspend") == "policy"


def test_webhooks_of_older_servers_carry_the_field_in_their_path() -> None:
    mutating = configurations.render(Scope(minor=34, kinds=TRAINING))[0]["webhooks"]
    paths = {one["name"]: one["clientConfig"]["service"]["path"] for one in mutating}
    assert paths["mpytorchjobs.kubeflow.org"] == "/mutate-by-spec.runPolicy.suspend"
    assert not any("pytorch" in name for name in names_of(Scope(minor=36, kinds=TRAINING)))


def names_of(scope: Scope) -> list[str]:
    return [one["name"] for one in configurations.render(scope)[0]["webhooks"]]


@pytest.mark.parametrize("spec", [None, {}, {"runPolicy": {"suspend": False}}])
def test_the_maps_on_the_way_to_the_field_are_made(spec: dict[str, object] | None) -> None:
    body = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}}}
    made = default_job({**body, "spec": spec}, DefaultingContext(), "spec.runPolicy.suspend")
    assert made["spec"] == {"runPolicy": {"suspend": True}}


def test_a_review_of_an_unknown_kind_is_answered_by_the_field() -> None:
    thing = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team"}}, "spec": {}}
    request = {"uid": "1", "operation": "CREATE", "kind": {"kind": "Experiment"}, "object": thing}
    answer = mutate({"request": request}, DefaultingContext(), "spec.paused")["response"]
    assert answer["allowed"]
    assert answer["patch"]


def test_who_queues_for_its_children_are_the_kinds_that_are_on() -> None:
    owner = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "controller": True}
    launcher = {"metadata": {"ownerReferences": [owner]}}
    assert not has_managed_owner(launcher)
    assert has_managed_owner(launcher, kinds_on(["kubeflow.org/mpijob"], {}))


def test_kinds_that_other_controllers_queue_queue_for_what_they_own() -> None:
    integrations = {"externalFrameworks": ["Experiment.v1.lab.example.com"]}
    kinds = kinds_of(Configuration.model_validate({"integrations": integrations}))
    owner = {"apiVersion": "lab.example.com/v2", "kind": "Experiment", "controller": True}
    assert has_managed_owner({"metadata": {"ownerReferences": [owner]}}, kinds)
    resources = {
        rule["resources"][0]
        for _, wire in render(rules(*kinds))
        for rule in wire["spec"].get("matchConstraints", {}).get("resourceRules", ())
    }
    assert resources == {"jobs", "pods"}
    names = [one["metadata"]["name"] for one in validating.render(Scope(kinds=kinds))]
    assert not any("experiment" in name for name in names)


def test_webhooks_are_not_asked_about_what_an_object_of_a_kind_that_is_on_makes() -> None:
    mutating = configurations.render(Scope(minor=34, kinds=TRAINING))[0]["webhooks"]
    found = {one["name"]: str(one.get("matchConditions")) for one in mutating}
    above = "'PyTorchJob']"
    for name in ("mjob.kb.io", "mpytorchjobs.kubeflow.org"):
        assert above in found[name]
    assert above not in found["mjobwithoutqueue.kb.io"]
