"""Changes of Jobs that no table can hold: what was could not have been made by hand."""

import pytest

from queueing.webhooks.admission import check
from queueing.webhooks.findings import Wire
from queueing.webhooks.jobs import MIN_PARALLELISM


def job(parallelism: int, *, least: str = "2", suspend: bool = True) -> Wire:
    return {
        "metadata": {"annotations": {MIN_PARALLELISM: least}},
        "spec": {"suspend": suspend, "parallelism": parallelism, "template": {}},
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(job(2, suspend=False), job(2, suspend=False), id="while it runs"),
        pytest.param(job(2, suspend=False), job(2), id="when it is stopped"),
        pytest.param(job(2), job(2), id="before it has its pods back"),
    ],
)
def test_a_job_that_was_admitted_with_its_fewest_pods_may_be_written(old: Wire, new: Wire) -> None:
    assert check("Job", new, old) == []


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(None, id="new"),
        pytest.param(job(4), id="with fewer pods than before"),
        pytest.param(job(2, least="1"), id="with another least"),
    ],
)
def test_who_counts_anew_must_leave_room_for_fewer(old: Wire | None) -> None:
    (found,) = check("Job", job(2), old)
    assert "should be between 0 and 1" in str(found)


def test_a_job_that_is_older_than_the_rule_about_names_of_queues_may_be_written() -> None:
    """A server that knows the rule has no such Job; one that learned it may."""
    older: Wire = {
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "Team_A"}},
        "spec": {"suspend": True, "parallelism": 4, "template": {}},
    }
    changed = {**older, "spec": {**older["spec"], "parallelism": 3}}
    assert check("Job", changed, older) == []
    assert check("Job", older) != []
