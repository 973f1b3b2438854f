"""Phases of a workload follow each other without a gap, whatever is known of it."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queueing.observe.waterfall import (
    Happening,
    Phase,
    SeenPod,
    SeenWorkload,
    until_ready,
    waterfall,
)
from queueing.translate.wire.workloads import Workload

START = 1_700_000_000


def moment(after: float) -> str:
    return datetime.fromtimestamp(START + after, tz=UTC).isoformat()


def workload(active: bool = True, /, **since: float) -> Workload:
    """Return a Workload made at START + 1 with conditions, True since so many seconds later.

    A condition whose name begins with `not_` is False.
    """
    conditions = [
        {
            "type": name.removeprefix("not_"),
            "status": "False" if name.startswith("not_") else "True",
            "lastTransitionTime": moment(at),
        }
        for name, at in since.items()
    ]
    made = {"name": "w", "namespace": "team", "uid": "u", "creationTimestamp": moment(1)}
    value = {"metadata": made, "spec": {"active": active}, "status": {"conditions": conditions}}
    return msgspec.convert(value, Workload)


def told(seen: SeenWorkload) -> list[tuple[str, float, float | None]]:
    """Return the phases, in seconds after START."""
    return [
        (one.name, one.began - START, None if one.ended is None else one.ended - START)
        for one in waterfall(seen).inside
    ]


def at(seconds: float) -> float:
    return START + seconds


RUNS = SeenWorkload(
    workload=workload(QuotaReserved=5, Admitted=7, PodsReady=12),
    submitted=at(-1),
    unsuspended=at(8),
    pods=(SeenPod(at(9), at(10), at(11)), SeenPod(at(9), at(11), at(12))),
)


def test_the_time_until_pods_are_ready_is_told_without_a_gap() -> None:
    assert told(RUNS) == [
        ("submitted", -1, 1),
        ("queued", 1, 5),
        ("admission checks", 5, 7),
        ("start", 7, 8),
        ("pods created", 8, 9),
        ("pods scheduled", 9, 11),
        ("pods ready", 11, 12),
        ("running", 12, None),
    ]
    assert until_ready(waterfall(RUNS)) == 13


def test_a_workload_made_within_the_second_after_its_job_may_have_been_made_at_once() -> None:
    assert told(replace(RUNS, submitted=START))[0] == ("queued", 1, 5)


@pytest.mark.parametrize(
    ("seen", "last"),
    [
        pytest.param(SeenWorkload(workload=workload()), ("queued", 1, None), id="waits"),
        pytest.param(
            SeenWorkload(workload=workload(QuotaReserved=3)),
            ("admission checks", 3, None),
            id="its checks are open",
        ),
        pytest.param(
            SeenWorkload(workload=workload(QuotaReserved=3, Admitted=3)),
            ("start", 3, None),
            id="is admitted, and its job is not started",
        ),
        pytest.param(
            SeenWorkload(
                workload=workload(QuotaReserved=3, Admitted=3),
                unsuspended=at(4),
                pods=(SeenPod(at(5)),),
            ),
            ("pods scheduled", 5, None),
            id="its pods find no node",
        ),
        pytest.param(
            SeenWorkload(workload=workload(QuotaReserved=3, Admitted=3, Finished=9)),
            ("running", 3, 9),
            id="has finished, and its pods are gone",
        ),
        pytest.param(
            SeenWorkload(workload=workload(QuotaReserved=3, Admitted=3, PodsReady=5, Evicted=8)),
            ("eviction", 8, None),
            id="is being evicted",
        ),
        pytest.param(
            SeenWorkload(workload=workload(False, not_QuotaReserved=9, Evicted=8)),
            ("stopped", 9, None),
            id="was stopped by hand",
        ),
        pytest.param(
            SeenWorkload(workload=workload(Requeued=20, not_QuotaReserved=20)),
            ("queued", 20, None),
            id="is back in its queue",
        ),
    ],
)
def test_the_last_phase_is_where_it_stands(
    seen: SeenWorkload, last: tuple[str, float, float | None]
) -> None:
    assert told(seen)[-1] == last


def test_who_was_preempted_for_it_is_inside_its_wait() -> None:
    victims = (
        Phase(name="team/big", began=at(2), ended=at(4)),
        Phase(name="team/small", began=at(2), ended=at(6)),
        Phase(name="team/of an earlier round", began=at(-9), ended=at(-5)),
    )
    queued = waterfall(SeenWorkload(workload=workload(QuotaReserved=7), victims=victims)).inside[0]
    (preemption,) = queued.inside
    assert (preemption.began, preemption.ended) == (at(2), at(6))
    assert [one.name for one in preemption.inside] == ["team/big", "team/small"]


def test_each_reason_of_waiting_is_told_once_until_it_changes() -> None:
    seen = SeenWorkload(
        workload=workload(QuotaReserved=7),
        happenings=(
            Happening(at(4), "WaitingForQuota", "2 more"),
            Happening(at(2), "WaitingForQuota", "3 more"),
            Happening(at(3), "WaitingForQuota", "3 more"),
            Happening(at(7), "Admitted", "by vision"),
        ),
    )
    assert [one.at for one in waterfall(seen).inside[0].happened] == [at(2), at(4)]


def test_what_was_before_it_came_back_is_one_phase_with_its_evictions() -> None:
    eviction = Phase(name="eviction", began=at(10), ended=at(19))
    seen = SeenWorkload(workload=workload(Requeued=20), evictions=(eviction,))
    earlier, queued = waterfall(seen).inside
    assert (earlier.name, earlier.inside) == ("earlier rounds", (eviction,))
    assert queued.inside == ()


MOMENT = st.one_of(st.none(), st.integers(0, 30))
CONDITIONS = ("QuotaReserved", "Admitted", "PodsReady", "Evicted", "Requeued", "Finished")


@given(
    since=st.dictionaries(st.sampled_from(CONDITIONS), st.integers(0, 30)),
    pods=st.lists(st.tuples(st.integers(0, 30), MOMENT, MOMENT), max_size=3),
    submitted=MOMENT,
    unsuspended=MOMENT,
)
def test_whatever_is_stored_phases_follow_each_other_and_only_the_last_goes_on(
    since: dict[str, float],
    pods: list[tuple[int, int | None, int | None]],
    submitted: int | None,
    unsuspended: int | None,
) -> None:
    seen = SeenWorkload(
        workload=workload(**since),
        submitted=None if submitted is None else at(submitted),
        unsuspended=None if unsuspended is None else at(unsuspended),
        pods=tuple(
            SeenPod(at(one), *(None if x is None else at(x) for x in (two, three)))
            for one, two, three in pods
        ),
    )
    whole = waterfall(seen)
    assert whole.began == whole.inside[0].began
    for before, after in zip(whole.inside, whole.inside[1:], strict=False):
        assert before.ended == after.began
        assert before.began <= after.began
    assert whole.ended == whole.inside[-1].ended


def test_claims_are_told_while_pods_get_their_nodes() -> None:
    claims = (
        Phase(name="train-0-gpu", began=at(9), ended=at(10)),
        Phase(name="train-1-gpu", began=at(9), ended=at(11)),
    )
    pods = (SeenPod(at(9), at(10), at(12)), SeenPod(at(9), at(11), at(12)))
    whole = waterfall(replace(RUNS, claims=claims, pods=pods))
    (scheduling,) = (one for one in whole.inside if one.name == "pods scheduled")
    (found,) = scheduling.inside
    assert (found.name, found.began, found.ended) == ("claims", at(9), at(11))
    assert found.inside == claims


def test_a_claim_that_pods_share_takes_no_time_of_before_their_creation() -> None:
    claims = (
        Phase(name="had-devices-before", began=at(1), ended=at(2)),
        Phase(name="waited-for-pods", began=at(1), ended=at(11)),
        Phase(name="train-0-gpu", began=at(9), ended=at(10)),
    )
    whole = waterfall(replace(RUNS, claims=claims))
    (scheduling,) = (one for one in whole.inside if one.name == "pods scheduled")
    (found,) = scheduling.inside
    assert (found.began, found.ended) == (scheduling.began, at(11))
    assert [one.name for one in found.inside] == ["waited-for-pods", "train-0-gpu"]


def test_claims_that_get_no_devices_are_what_pods_wait_for() -> None:
    claims = (Phase(name="train-0-gpu", began=at(9), ended=None),)
    seen = replace(RUNS, workload=workload(QuotaReserved=5, Admitted=7), claims=claims)
    whole = waterfall(replace(seen, pods=(SeenPod(at(9), None, None),)))
    assert (whole.inside[-1].name, whole.inside[-1].ended) == ("pods scheduled", None)
    assert [(one.name, one.ended) for one in whole.inside[-1].inside] == [("claims", None)]
