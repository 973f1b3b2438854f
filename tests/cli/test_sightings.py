from typing import Any

from queueing.cli.board import line_of, summary
from queueing.cli.sightings import News, Phase, Sightings


def workload(*true: str, **reasons: str) -> dict[str, Any]:
    conditions = [{"type": name, "status": "True", "reason": name} for name in true]
    conditions += [
        {"type": name, "status": "False", "reason": reason, "message": f"no pod set: {reason}"}
        for name, reason in reasons.items()
    ]
    flavors = {"cpu": "spot"}
    return {
        "metadata": {"namespace": "team", "ownerReferences": [{"name": "job"}]},
        "status": {
            "conditions": conditions,
            "admission": {"podSetAssignments": [{"flavors": flavors}]},
        },
    }


def texts(seen: Sightings, one: dict[str, Any], now: float) -> list[str]:
    return [news.text for news in seen.look([one], [], now)]


def test_a_life_is_told_in_its_steps_and_the_waiting_is_added_up() -> None:
    seen = Sightings()
    seen.submit("team/job", "main", 0.0)
    assert texts(seen, workload(), 0.5) == ["waits its turn"]
    assert texts(seen, workload(QuotaReserved="WaitingForQuota"), 1.0) == [
        "waits: WaitingForQuota: WaitingForQuota"
    ]
    assert texts(seen, workload("QuotaReserved", "Admitted"), 2.0) == [
        "admitted to spot after 2.0 s of waiting"
    ]
    evicted = workload("QuotaReserved", "Admitted", "Evicted", "Preempted")
    assert texts(seen, evicted, 3.0) == ["preempted: Preempted"]
    texts(seen, workload("Preempted"), 3.5)
    texts(seen, workload("QuotaReserved", "Admitted"), 5.5)
    assert texts(seen, workload("Finished"), 6.0) == ["done"]
    sight = seen.jobs["team/job"]
    assert (sight.phase, sight.preemptions, sight.waited) == (Phase.DONE, 1, 4.0)
    assert seen.all_done


def test_an_eviction_between_two_looks_is_seen_as_well() -> None:
    seen = Sightings()
    seen.submit("team/job", "main", 0.0)
    texts(seen, workload("QuotaReserved", "Admitted"), 1.0)
    assert texts(seen, workload("Preempted"), 2.0) == ["preempted: Preempted"]


def test_borrowing_is_told_once_per_flavor_and_resource() -> None:
    seen = Sightings()
    resource = {"name": "cpu", "total": "6", "borrowed": "2"}
    queue = {
        "metadata": {"name": "a"},
        "status": {"flavorsReservation": [{"name": "spot", "resources": [resource]}]},
    }
    assert [one.text for one in seen.look([], [queue], 1.0)] == ["borrows cpu of spot"]
    assert seen.look([], [queue], 2.0) == []


def test_the_summary_has_a_line_per_team() -> None:
    seen = Sightings()
    assert summary(seen) == "No Job was submitted."
    seen.submit("team/job", "main", 0.0)
    assert summary(seen).splitlines()[1].split()[:3] == ["team", "1", "0"]


def test_long_lines_are_cut() -> None:
    assert line_of(News(at=1.0, job="a/b", text="x" * 500)).endswith("…")
