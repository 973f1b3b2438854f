from dataclasses import replace

import pytest

from queueing.core.facts import Admission, PodSetAssignment
from queueing.core.names import FlavorName, PodSetName, QueueName, ResourceName
from queueing.testing.builders import cluster_queue, pod_set, workload
from queueing.translate.contradictions import contradictions, indivisible, offered_by

CPU = ResourceName("cpu")
OFFERED = offered_by(cluster_queue("a", [{"default": {"cpu": 4}}]))
PENDING = workload("team/w", pod_sets=(pod_set({"cpu": 1}, 3),))
SOUND = PodSetAssignment(
    name=PodSetName("main"), count=3, flavors={CPU: FlavorName("default")}, usage={CPU: 3}
)


def said(*pod_sets: PodSetAssignment) -> list[str]:
    held = Admission(cluster_queue=QueueName("a"), pod_sets=pod_sets)
    return list(contradictions(PENDING, held, OFFERED))


def test_nothing_is_said_of_what_agrees() -> None:
    assert said(SOUND) == said(replace(SOUND, count=2)) == []


@pytest.mark.parametrize(
    ("pod_sets", "words"),
    [
        pytest.param((), "pod set main is not named", id="a pod set that holds nothing"),
        pytest.param(
            (SOUND, replace(SOUND, name=PodSetName("other"))),
            "spec.podSets has no other",
            id="a pod set that nobody asked for",
        ),
        pytest.param((replace(SOUND, count=4),), "4 pods hold quota", id="more pods than asked"),
        pytest.param(
            (replace(SOUND, flavors={CPU: FlavorName("gone")}),),
            "ClusterQueue a has no cpu of flavor gone",
            id="a flavor that the queue has no quota of",
        ),
    ],
)
def test_each_contradiction_is_a_sentence(
    pod_sets: tuple[PodSetAssignment, ...], words: str
) -> None:
    [found] = said(*pod_sets)
    assert words in found


@pytest.mark.parametrize(
    ("amount", "times"),
    [
        pytest.param(6, 0, id="equal shares"),
        pytest.param(7, 1, id="no equal shares"),
        pytest.param(2, 0, id="devices that the pods share"),
        pytest.param(0, 0, id="nothing"),
    ],
)
def test_pods_hold_equal_shares(amount: int, times: int) -> None:
    assert len(list(indivisible(replace(SOUND, usage={CPU: amount})))) == times
