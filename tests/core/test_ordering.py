import pytest

from queueing.core.facts import Condition, WorkloadFact
from queueing.core.ordering import queue_key, queue_timestamp
from queueing.core.settings import RequeuingTimestamp, Settings
from queueing.testing.builders import condition, workload

BY_CREATION = Settings(requeuing_timestamp=RequeuingTimestamp.CREATION)
NO_PRIORITY = Settings(priority_sorting_within_cohort=False)


@pytest.mark.parametrize(
    ("conditions", "settings", "want"),
    [
        pytest.param((), Settings(), 5.0, id="the creation"),
        pytest.param(
            (condition("Evicted", "Preempted", changed=9),),
            Settings(),
            5.0,
            id="a preempted one returns to its place",
        ),
        pytest.param(
            (condition("Evicted", "PodsReadyTimeout", changed=9),),
            Settings(),
            9.0,
            id="one whose pods were not ready goes behind",
        ),
        pytest.param(
            (condition("Evicted", "PodsReadyTimeout", changed=9),),
            BY_CREATION,
            5.0,
            id="unless configured otherwise",
        ),
        pytest.param(
            (condition("Evicted", "PodsReadyTimeout", changed=9, status=False),),
            Settings(),
            5.0,
            id="an eviction that is over does not count",
        ),
        pytest.param(
            (condition("Evicted", "AdmissionCheck", changed=9),),
            BY_CREATION,
            9.0,
            id="one whose checks failed goes behind",
        ),
        pytest.param(
            (condition("Preempted", "InCohortReclaimWhileBorrowing", changed=9),),
            NO_PRIORITY,
            9.001,
            id="without priorities a borrower's victim goes just behind the preemptor",
        ),
        pytest.param(
            (condition("Preempted", "InCohortReclaimWhileBorrowing", changed=9),),
            Settings(),
            5.0,
            id="with priorities it does not",
        ),
    ],
)
def test_since_when_a_workload_queues(
    conditions: tuple[Condition, ...], settings: Settings, want: float
) -> None:
    assert queue_timestamp(workload(created=5.0, conditions=conditions), settings) == want


def named(name: str, priority: int = 0, created: float = 0.0) -> WorkloadFact:
    return workload(name, priority=priority, created=created)


def test_the_order_in_a_queue() -> None:
    keys = {
        "sticky": queue_key(named("d", 0, 9), 9.0, sticky=True),
        "high priority": queue_key(named("c", 7, 9), 9.0),
        "early": queue_key(named("z", 1, 1), 1.0),
        "smaller uid": queue_key(named("a", 1, 2), 2.0),
        "larger uid": queue_key(named("b", 1, 2), 2.0),
    }
    assert sorted(keys, key=lambda one: keys[one]) == list(keys)
