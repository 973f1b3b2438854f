from typing import Any

import pytest

from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.injection import ConflictError, Injection, inject, injection_of
from queueing.translate.labels import INDEX_OFFSET, TOPOLOGY_GROUP
from queueing.translate.wire.pods import PodTemplate, Toleration
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import PodSetAssignment, PodSetUpdate


def template(**parts: Any) -> PodTemplate:
    return read(PodTemplate, parts)


def flavor(labels: dict[str, str], *tolerations: str) -> ResourceFlavor:
    spec = {"nodeLabels": labels, "tolerations": [{"key": key} for key in tolerations]}
    return read(ResourceFlavor, {"metadata": {"name": "f"}, "spec": spec})


def test_an_admission_marks_its_pods_and_sends_them_to_its_flavors() -> None:
    flavors = [flavor({"pool": "a"}, "x"), flavor({"zone": "b"}, "x", "y")]
    got = injection_of(
        PodSetAssignment(name="main", count=2),
        flavors,
        marks={"queue": "lq", "far-too-long": "x" * 64, "empty": ""},
        workload="w",
    )
    assert got.labels == {"kueue.x-k8s.io/podset": "main", "queue": "lq"}
    assert got.annotations == {"kueue.x-k8s.io/workload": "w"}
    assert got.node_selector == {"pool": "a", "zone": "b"}
    assert [one.key for one in got.tolerations] == ["x", "y"]


def test_two_values_for_one_key_can_never_start() -> None:
    with pytest.raises(ConflictError, match="node selector 'pool': 'a' and 'b'"):
        inject(
            template(spec={"nodeSelector": {"pool": "a"}}), Injection(node_selector={"pool": "b"})
        )
    with pytest.raises(ConflictError, match="label 'l'"):
        Injection(labels={"l": "1"}).merged(PodSetUpdate(labels={"l": "2"}))


def test_a_check_adds_to_what_the_flavors_gave() -> None:
    update = PodSetUpdate(
        labels={"l": "1"}, node_selector={"n": "1"}, tolerations=[Toleration(key="t")]
    )
    got = Injection(node_selector={"pool": "a"}).merged(update)
    assert got.node_selector == {"pool": "a", "n": "1"}
    assert got.labels == {"l": "1"}
    assert [one.key for one in got.tolerations] == ["t"]


@pytest.mark.parametrize(
    ("asked", "first", "told"),
    [
        pytest.param({}, 1, "1", id="it is told"),
        pytest.param({}, 0, None, id="0 goes without saying"),
        pytest.param({INDEX_OFFSET: "2"}, 1, None, id="the template says it"),
        pytest.param({TOPOLOGY_GROUP: "ring"}, 1, None, id="they are numbered with others"),
    ],
)
def test_pods_that_are_placed_are_told_the_number_of_the_first(
    asked: dict[str, str], first: int, told: str | None
) -> None:
    assert Injection().placed(asked, first).annotations.get(INDEX_OFFSET) == told


def test_the_trace_of_the_submitter_is_handed_to_the_pods() -> None:
    assert Injection().handing_down("00-a-b-01").annotations == {"traceparent": "00-a-b-01"}
    assert Injection().handing_down("") == Injection()


def test_a_gate_is_added_beside_those_that_are_there() -> None:
    own = template(spec={"schedulingGates": [{"name": "example.com/other"}]})
    added = Injection(scheduling_gates=("queueing.dev/claims",))
    names = [{"name": "example.com/other"}, {"name": "queueing.dev/claims"}]
    assert inject(own, added) == {"spec": {"schedulingGates": names}}
