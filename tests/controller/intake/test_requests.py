"""What Workloads request is translated once for all that are alike."""

from typing import Any

import msgspec
import pytest

from queueing.controller.intake.requests import ALIKE_MAX, Requests
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.translate.inbound.workloads import Asks
from queueing.translate.transformations import NO_RULES
from queueing.translate.wire.cluster import LimitRange
from queueing.translate.wire.workloads import Workload

POD_SET: dict[str, Any] = {
    "name": "main",
    "count": 2,
    "template": {
        "metadata": {"labels": {"job-name": "a"}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
    },
}


def workload(name: str, pod_set: dict[str, Any], queue: str = "lq", **meta: Any) -> Workload:
    document = {
        "metadata": {"name": name, "namespace": "team", "uid": name, "generation": 1, **meta},
        "spec": {"queueName": queue, "podSets": [pod_set]},
    }
    return msgspec.convert(document, Workload)


def asks(requests: Requests, found: Workload) -> Asks:
    return requests.of(found.metadata.key, found)[0]


def test_workloads_with_equal_pod_sets_share_one_translation() -> None:
    requests = Requests(Objects(), NO_RULES)
    template = {**POD_SET["template"], "metadata": {"labels": {"job-name": "b"}}}
    other = workload("b", {**POD_SET, "template": template})
    assert asks(requests, workload("a", POD_SET)) is asks(requests, other)


@pytest.mark.parametrize(
    "other",
    [
        workload("b", {**POD_SET, "name": "other"}),
        workload("b", {**POD_SET, "count": 3}),
        workload("b", {**POD_SET, "minCount": 1}),
        workload("b", {**POD_SET, "topologyRequest": {"required": "rack"}}),
        workload("b", {**POD_SET, "template": {"metadata": {"annotations": {"x": "1"}}}}),
        workload("b", {**POD_SET, "template": {"spec": {"priorityClassName": "high"}}}),
        workload("b", POD_SET, queue="another"),
    ],
    ids=["name", "count", "minCount", "topology", "annotations", "spec", "queue"],
)
def test_workloads_that_differ_are_translated_apart(other: Workload) -> None:
    requests = Requests(Objects(), NO_RULES)
    assert asks(requests, workload("a", POD_SET)) is not asks(requests, other)


def test_what_is_alike_is_translated_anew_when_its_surroundings_changed() -> None:
    objects = Objects()
    requests = Requests(objects, NO_RULES)
    before = asks(requests, workload("a", {**POD_SET, "template": {"spec": {"containers": [{}]}}}))
    objects.limit_ranges[Key("team/l")] = msgspec.convert(
        {
            "metadata": {"name": "l", "namespace": "team"},
            "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "3"}}]},
        },
        LimitRange,
    )
    requests.changed("team")
    after = asks(requests, workload("b", {**POD_SET, "template": {"spec": {"containers": [{}]}}}))
    assert [before.pod_sets[0].requests, after.pod_sets[0].requests] == [{}, {"cpu": 3000}]


def test_memory_of_what_is_alike_is_bounded() -> None:
    requests = Requests(Objects(), NO_RULES)
    first = asks(requests, workload("first", POD_SET))
    for number in range(ALIKE_MAX):
        asks(requests, workload(f"w{number}", {**POD_SET, "count": number + 10}))
    assert asks(requests, workload("last", POD_SET)) is not first
