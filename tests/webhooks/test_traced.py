"""What pods are told of the trace that they are part of."""

from typing import Any

import jsonpatch

from queueing.translate.labels import POD_SET, TRACE_PARENT
from queueing.webhooks.findings import Wire
from queueing.webhooks.policies.traced import TRACED, VARIABLE
from queueing.webhooks.rules import patches_of

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TOLD = {"name": VARIABLE, "value": PARENT}


def pod(*containers: Wire, **spec: Any) -> Wire:
    return {
        "metadata": {"labels": {POD_SET: "main"}, "annotations": {TRACE_PARENT: PARENT}},
        "spec": {"containers": list(containers), **spec},
    }


def told(asked: Wire) -> Wire:
    """Return the pod as the policy would change it."""
    made: Wire = jsonpatch.apply_patch(asked, patches_of(TRACED, asked))
    return made


def test_each_container_gets_the_variable_beside_its_own() -> None:
    mode = {"name": "MODE", "value": "fast"}
    made = told(
        pod(
            {"name": "a"},
            {"name": "b", "env": [mode]},
            initContainers=[{"name": "first"}],
        )
    )["spec"]
    assert made["containers"] == [{"name": "a", "env": [TOLD]}, {"name": "b", "env": [mode, TOLD]}]
    assert made["initContainers"] == [{"name": "first", "env": [TOLD]}]


def test_a_variable_that_the_template_names_stays() -> None:
    own = {"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    asked = pod({"name": "a", "env": [own]})
    assert patches_of(TRACED, asked) == []


def test_a_pod_is_told_once() -> None:
    once = told(pod({"name": "a"}))
    assert patches_of(TRACED, once) == []


def test_pods_of_others_and_without_a_trace_are_left_alone() -> None:
    for part in ("labels", "annotations"):
        asked = pod({"name": "a"})
        asked["metadata"][part] = {}
        assert patches_of(TRACED, asked) == []
