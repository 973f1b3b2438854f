"""Kinds whose pods are queued: what marks their pod templates, and which changes are refused."""

import base64
import json
from typing import Any

import jsonpatch
import pytest

from queueing.controller.admission_policies.rendering import PolicyRules, render
from queueing.core.selectors import Selector
from queueing.webhooks import configurations
from queueing.webhooks.admission import Review, WebhookSettings, findings, mutate
from queueing.webhooks.jobs import DefaultingContext
from queueing.webhooks.marking import PARENT
from queueing.webhooks.policies import render as validating
from queueing.webhooks.rules import has_managed_owner
from queueing.webhooks.scope import Scope
from queueing.webhooks.suspension import kinds_on
from tests.webhooks.marked_rows import (
    CHANGES,
    CLASS,
    KINDS,
    QUEUE,
    SERVING,
    Change,
    Marked,
    Wire,
    marks_of,
)

ON = kinds_on([one.framework for one in KINDS], {})
each_kind = pytest.mark.parametrize("kind", [pytest.param(one, id=one.kind) for one in KINDS])


def created(thing: Wire, around: DefaultingContext, operation: str = "CREATE") -> Wire:
    """Return an object as the webhook leaves it."""
    request = {"operation": operation, "kind": {"kind": thing["kind"]}, "object": thing}
    answer = mutate({"request": request}, around)["response"]
    assert answer["allowed"]
    patch = json.loads(base64.b64decode(answer.get("patch", "W10=")))
    found: Wire = jsonpatch.apply_patch(thing, patch)
    return found


@each_kind
@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_the_templates_of_one_in_a_queue_are_marked(kind: Marked, operation: str) -> None:
    thing = kind.thing({QUEUE: "team", CLASS: "high"})
    made = created(thing, DefaultingContext(), operation)
    copied = {QUEUE, CLASS} if kind.copies else set()
    for parent, labels, values in marks_of(made, kind):
        assert parent == kind.framework
        assert labels == kind.labels | copied
        assert values.get(QUEUE, "team") == "team"
    assert created(made, DefaultingContext(), "UPDATE") == made


def test_pods_of_a_leader_worker_set_serve_as_a_group() -> None:
    made = created(KINDS[2].thing({QUEUE: "team"}), DefaultingContext())
    for template in ("leaderTemplate", "workerTemplate"):
        metadata = made["spec"]["leaderWorkerTemplate"][template]["metadata"]
        assert metadata["annotations"][SERVING] == "true"


@each_kind
def test_one_without_a_queue_is_left_alone(kind: Marked) -> None:
    assert created(kind.thing(), DefaultingContext()) == kind.thing()


@each_kind
def test_one_without_a_queue_gets_the_default_one_and_the_default_class(kind: Marked) -> None:
    around = DefaultingContext(default_local_queue=True, default_priority_class=True)
    made = created(kind.thing(), around)
    assert made["metadata"]["labels"] == {QUEUE: "default", CLASS: "default"}
    for parent, _, values in marks_of(made, kind):
        assert parent == kind.framework
        if kind.copies:
            assert (values[QUEUE], values[CLASS]) == ("default", "default")


@each_kind
def test_all_are_marked_where_the_configuration_manages_what_has_no_queue(kind: Marked) -> None:
    made = created(kind.thing(), DefaultingContext(manage_without_queue=True))
    assert {parent for parent, _, _ in marks_of(made, kind)} == {kind.framework}


@each_kind
def test_one_that_another_object_is_queued_for_is_left_alone(kind: Marked) -> None:
    owner: dict[str, Any] = {"apiVersion": "batch/v1", "kind": "Job", "controller": True}
    thing = kind.thing({QUEUE: "team"}, ownerReferences=[owner])
    around = DefaultingContext(owner_managed=has_managed_owner(thing, ON))
    assert created(thing, around) == thing


def test_the_stateful_sets_of_a_leader_worker_set_keep_its_marks() -> None:
    thing = KINDS[1].thing({QUEUE: "team"})
    template = thing["spec"]["template"]
    metadata = {**template["metadata"], "annotations": {PARENT: KINDS[2].framework}}
    nested = {**thing, "spec": {**thing["spec"], "template": {**template, "metadata": metadata}}}
    assert created(nested, DefaultingContext()) == nested
    bad = {**nested, "spec": {**nested["spec"], "replicas": 9}}
    around, rules = DefaultingContext(), WebhookSettings()
    review = Review(kind="StatefulSet", operation="UPDATE", new=bad, old=nested, around=around)
    assert findings(review, rules) == []


@pytest.mark.parametrize(
    "change", [pytest.param(one, id=f"{one.kind}: {one.name}") for one in CHANGES]
)
def test_what_is_refused_says_why(change: Change) -> None:
    operation = "CREATE" if change.old is None else "UPDATE"
    review = Review(
        kind=change.kind,
        operation=operation,
        new=change.new,
        old=change.old,
        around=DefaultingContext(),
    )
    told = "\n".join(map(str, findings(review, WebhookSettings())))
    if change.says:
        assert change.says in told
    else:
        assert told == ""


@each_kind
def test_policies_and_webhooks_are_there_for_kinds_that_are_on(kind: Marked) -> None:
    def rendered(*frameworks: str) -> list[str]:
        kinds = kinds_on(frameworks, {})
        rules = PolicyRules(
            namespaces=Selector(), without_queue_name=False, namespace="kueue-system", kinds=kinds
        )
        names = [wire["metadata"]["name"] for _, wire in render(rules)]
        names += [one["metadata"]["name"] for one in validating.render(Scope(kinds=kinds))]
        older = configurations.render(Scope(minor=34, kinds=kinds))[0]["webhooks"]
        names += [one["clientConfig"]["service"]["path"] for one in older]
        plural = f"{kind.kind.lower()}s"
        return sorted({one for one in names if plural in one})

    plural = f"{kind.kind.lower()}s"
    group = kind.api_version.partition("/")[0]
    assert rendered(kind.framework) == sorted(
        [
            f"/mutate-marks-of-{plural}",
            f"queueing-default-queue-{plural}",
            f"queueing-mark-{plural}",
            f"queueing-validate-{plural}.{group}",
        ]
    )
    assert rendered() == []
