from typing import Any

from queueing.cli.local.board import line_of, summary
from queueing.cli.local.sightings import JobStage, News, Sightings


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
    assert (sight.phase, sight.preemptions, sight.waited) == (JobStage.DONE, 1, 4.0)
    assert seen.all_done


def test_an_eviction_between_two_looks_is_seen_as_well() -> None:
    seen = Sightings()
    seen.submit("team/job", "main", 0.0)
    texts(seen, workload("QuotaReserved", "Admitted"), 1.0)
    assert texts(seen, workload("Preempted"), 2.0) == ["preempted: Preempted"]


def test_a_preempted_job_is_told_for_whom() -> None:
    seen = Sightings()
    seen.submit("team/job", "main", 0.0)
    texts(seen, workload("QuotaReserved", "Admitted"), 1.0)
    urgent = {"metadata": {"namespace": "b", "uid": "7", "ownerReferences": [{"name": "urgent"}]}}
    evicted = workload("QuotaReserved", "Admitted", "Evicted")
    for_whom = "Preempted to accommodate a workload (UID: 7, JobUID: 8) due to prioritization"
    evicted["status"]["conditions"].append(
        {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": for_whom}
    )
    told = [one.text for one in seen.look([urgent, evicted], [], 2.0)]
    assert told == ["preempted for b/urgent: InClusterQueue"]
    assert texts(seen, workload(QuotaReserved="PendingEvaluation"), 3.0) == [
        "waits for another turn"
    ]


def test_what_is_missing_is_told_without_what_can_never_help() -> None:
    seen = Sightings()
    seen.submit("team/job", "main", 0.0)
    waiting = workload(QuotaReserved="WaitingForQuota")
    waiting["status"]["conditions"][0]["message"] = (
        "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor spot, "
        "previously considered podsets requests (0) + current podset request (4) > maximum "
        "capacity (0), insufficient unused quota for gpu in flavor a100, 2 more needed"
    )
    assert texts(seen, waiting, 1.0) == ["waits for 2 more gpu of a100"]


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


def test_pods_of_a_group_are_one_by_the_name_of_the_group() -> None:
    seen = Sightings()
    seen.submit("team/ring", "main", 0.0)
    group = workload("QuotaReserved", "Admitted")
    marked = {"kueue.x-k8s.io/is-group-workload": "true"}
    group["metadata"] |= {"name": "ring", "annotations": marked}
    assert texts(seen, group, 1.0) == ["admitted to spot after 1.0 s of waiting"]
