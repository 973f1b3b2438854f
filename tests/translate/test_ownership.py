from typing import Any

from queueing.translate.ownership import handed_over

Fields = dict[str, Any]
ADMISSION: Fields = {"f:clusterQueue": {}, "f:podSetAssignments": {}}
V2 = "kueue.x-k8s.io/v1beta2"


def conditions(*types: str) -> Fields:
    return {f'k:{{"type":"{one}"}}': {".": {}, "f:status": {}} for one in types}


def entry(manager: str, operation: str, status: Fields) -> Fields:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": V2,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": status},
        "subresource": "status",
    }


def test_what_was_decided_becomes_kueues_and_the_rest_stays() -> None:
    spec = {"manager": "queueing", "operation": "Update", "fieldsV1": {"f:spec": {}}}
    ours = entry(
        "queueing",
        "Update",
        {
            ".": {},
            "f:admission": ADMISSION,
            "f:reclaimablePods": {},
            "f:conditions": {".": {}, **conditions("Admitted", "PodsReady")},
        },
    )
    assert handed_over([spec, ours]) == [
        spec,
        entry(
            "queueing",
            "Update",
            {"f:reclaimablePods": {}, "f:conditions": conditions("PodsReady")},
        ),
        entry(
            "kueue-admission",
            "Apply",
            {"f:admission": ADMISSION, "f:conditions": conditions("Admitted")},
        ),
    ]


def test_what_kueue_applied_already_stays_with_it() -> None:
    theirs = entry("kueue-admission", "Apply", {"f:conditions": conditions("QuotaReserved")})
    ours = entry("queueing", "Update", {"f:conditions": conditions("Evicted")})
    assert handed_over([theirs, ours]) == [
        entry("kueue-admission", "Apply", {"f:conditions": conditions("QuotaReserved", "Evicted")})
    ]


def test_a_workload_that_we_decided_nothing_of_is_left_alone() -> None:
    theirs = entry("kueue-admission", "Apply", {"f:admission": ADMISSION})
    ready = entry("queueing", "Update", {"f:conditions": conditions("PodsReady")})
    assert handed_over([theirs, ready]) is None


def test_handing_over_twice_is_handing_over_once() -> None:
    once = handed_over([entry("queueing", "Update", {"f:admission": ADMISSION})])
    assert once is not None
    assert handed_over(once) is None
