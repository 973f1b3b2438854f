"""Each gauge of queues and cohorts, shown by a fact that changes it."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import NoReturn

import pytest
from typing_extensions import override

from queueing.controller.telemetry.gauges import AT_ONCE, Gauges
from queueing.core.credits.facts import (
    MICRO,
    PART,
    ChildRecord,
    CreditAccountFact,
    CreditGrantFact,
    CreditPolicyFact,
    Member,
)
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Cycle, Mode, Reason, Requeue, Wait
from queueing.core.names import CohortName, Key, QueueName, ResourceName, Uid
from queueing.devices.wire import objects
from queueing.devices.wire.names import WORKLOAD_UID
from queueing.kube.reflector import Added, Deleted, Modified
from queueing.translate.inbound.manifests import read
from queueing.translate.wire import queues
from queueing.translate.wire.workloads import Workload
from tests.controller.telemetry.desk import (
    ADMITTED,
    CPU,
    DOOR,
    IN_TEAM,
    LATER,
    NOW,
    QUEUE,
    RESERVED,
    RUNNING,
    Desk,
    Wire,
    cluster_queue,
    condition,
    line,
    workload,
)

UNLIMITED = (
    '{cluster_queue="other",cohort="team",flavor="any",replica_role="leader",resource="cpu"}'
)


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        pytest.param(
            [],
            [
                line("cluster_queue_nominal_quota", 4.0, **IN_TEAM),
                line("cluster_queue_borrowing_limit", 3.0, **IN_TEAM),
                line("cluster_queue_lending_limit", 1.5, **IN_TEAM),
                line("cluster_queue_info", 1.0, **QUEUE, parent_cohort="team", root_cohort="all"),
                line("cohort_info", 1.0, cohort="team", parent_cohort="all", root_cohort="all"),
                line("cohort_info", 1.0, cohort="all", parent_cohort="", root_cohort="all"),
                line("cohort_subtree_quota", 5.5, cohort="team", **CPU),
                line("cohort_subtree_admitted_active_workloads", 0.0, cohort="team"),
            ],
            id="quotas and the tree",
        ),
        pytest.param(
            [],
            [
                line("cluster_queue_resource_reservation", 0.0, **IN_TEAM),
                line("cluster_queue_resource_usage", 0.0, **IN_TEAM),
                line("cluster_queue_resource_pending", 0.0, **QUEUE, resource="cpu"),
                line("finished_workloads", 0.0, **QUEUE),
                line("local_queue_finished_workloads", 0.0, **DOOR),
                line("reserving_active_workloads", 0.0, **QUEUE),
                line("local_queue_admitted_active_workloads", 0.0, **DOOR),
            ],
            id="a queue that nobody uses",
        ),
        pytest.param(
            [],
            [
                f"kueue_cluster_queue_borrowing_limit{UNLIMITED} +Inf",
                f"kueue_cluster_queue_lending_limit{UNLIMITED} +Inf",
            ],
            id="no limits",
        ),
        pytest.param(
            [RUNNING],
            [
                line("cluster_queue_resource_reservation", 6.0, **IN_TEAM),
                line("cluster_queue_resource_usage", 6.0, **IN_TEAM),
                line("local_queue_resource_reservation", 6.0, **DOOR, **CPU),
                line("local_queue_resource_usage", 6.0, **DOOR, **CPU),
                line("cluster_queue_weighted_share", 364.0, **QUEUE, cohort="team"),
                line("cohort_subtree_admitted_active_workloads", 1.0, cohort="team"),
                line("cohort_subtree_admitted_active_workloads", 1.0, cohort="all"),
                line("cohort_subtree_resource_reservations", 3.5, cohort="team", **CPU),
            ],
            id="one that runs and borrows",
        ),
        pytest.param(
            [workload("checked", "1", RESERVED, held="cq")],
            [
                line("cluster_queue_resource_reservation", 1.0, **IN_TEAM),
                line("cluster_queue_resource_usage", 0.0, **IN_TEAM),
                line(
                    "unadmitted_workloads",
                    1.0,
                    **QUEUE,
                    reason="UnsatisfiedAdmissionChecks",
                    underlying_cause="",
                ),
            ],
            id="one whose checks are pending",
        ),
        pytest.param(
            [
                workload("a", "70", condition("QuotaReserved", "False", "ExceedsMaxQuota")),
                workload("b", "70"),
                workload("c", "90", condition("QuotaReserved", "False", "ExceedsMaxQuota")),
            ],
            [
                line(
                    "unadmitted_workloads",
                    2.0,
                    **QUEUE,
                    reason="NoReservation",
                    underlying_cause="ExceedsMaxQuota",
                ),
                line(
                    "local_queue_unadmitted_workloads",
                    1.0,
                    **DOOR,
                    reason="NoReservation",
                    underlying_cause="PendingEvaluation",
                ),
                line("cluster_queue_resource_pending", 230.0, **QUEUE, resource="cpu"),
                line("pending_scheduling_hashes", 2.0, **QUEUE, status="inadmissible"),
                line("pending_scheduling_hashes", 0.0, **QUEUE, status="active"),
            ],
            id="three that wait, of two sorts",
        ),
        pytest.param(
            [
                workload("a", "1", RESERVED, ADMITTED, condition("Finished"), held="cq"),
                workload("b", "1", condition("Finished")),
            ],
            [
                line("finished_workloads", 2.0, **QUEUE),
                line("local_queue_finished_workloads", 2.0, **DOOR),
            ],
            id="two that finished",
        ),
        pytest.param(
            [
                workload("a", "1", RESERVED, condition("Evicted", reason="Preempted"), held="cq"),
                workload("a", "1", condition("QuotaReserved", "False", "Pending", LATER)),
            ],
            [line("workload_eviction_latency_seconds_sum", 7.0, **QUEUE, reason="Preempted")],
            id="quota given back after an eviction",
        ),
    ],
)
def test_a_fact_is_shown(facts: Sequence[Wire], wanted: Sequence[str]) -> None:
    desk = Desk()
    before = desk.shown(cycle=False)
    if facts:
        assert not set(wanted) <= set(before.splitlines())
    desk.hear(*facts)
    shown = desk.shown().splitlines()
    assert [one for one in wanted if one not in shown] == []


def test_the_history_of_a_local_queue_is_shown_where_it_orders() -> None:
    desk = Desk()
    desk.hear(RUNNING)
    desk.shown()
    desk.engine.cycle(NOW + 3600.0)
    text = desk.shown(cycle=False)
    (found,) = [
        one
        for one in text.splitlines()
        if one.startswith("kueue_local_queue_admission_fair_sharing_usage{")
    ]
    assert 'cluster_queue="cq"' in found
    assert float(found.rpartition(" ")[2]) > 0.0


def test_balances_of_credits_are_shown() -> None:
    desk = Desk()
    prices = Prices({(None, ResourceName("cpu")): MICRO})
    desk.engine.observe(CreditPolicyFact(name="p", prices=prices))
    grant = CreditGrantFact(
        name="g",
        uid=Uid("g"),
        receiver=Member("ClusterQueue", "cq"),
        amount=5 * MICRO,
        at=int(NOW) - 60,
    )
    desk.engine.observe(grant)
    desk.engine.cycle(NOW - 120)
    shown = desk.shown()
    labels = 'cluster_queue="cq",replica_role="leader"'
    (found,) = [one for one in shown.splitlines() if one.startswith("queueing_credit_balance{")][:1]
    assert found.startswith(f"queueing_credit_balance{{{labels}}} ")
    assert 4.9 < float(found.rpartition(" ")[2]) <= 5.0


def test_balances_of_cohorts_and_of_namespaces_within_a_queue_are_shown() -> None:
    desk = Desk()
    prices = Prices({(None, ResourceName("cpu")): MICRO})
    taking_turns = cluster_queue("cq")
    taking_turns["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    desk.admin.on_cluster_queue(Modified(read(queues.ClusterQueue, taking_turns)))
    desk.engine.observe(
        CreditPolicyFact(name="p", prices=prices, half_life_s=10**9, orders_local_queues=True)
    )
    for queue, cohort_name, member in (
        (None, CohortName("all"), Member("Cohort", "team")),
        (QueueName("cq"), None, Member("Namespace", "ns")),
    ):
        child = ChildRecord(member=member, balance=-7 * MICRO * PART)
        desk.engine.observe(
            CreditAccountFact(queue=queue, cohort=cohort_name, as_of=int(NOW), children=(child,))
        )
    shown = desk.shown()
    assert 'queueing_cohort_credit_balance{cohort="team",replica_role="leader"} -7.0' in shown
    whose = 'cluster_queue="cq",namespace="ns",replica_role="leader"'
    assert f"queueing_namespace_credit_balance{{{whose}}} -7.0" in shown


def test_a_queue_that_moves_or_goes_leaves_nothing_behind() -> None:
    desk = Desk()
    desk.hear(RUNNING)
    assert 'cohort="team"' in desk.shown()
    moved = read(queues.ClusterQueue, cluster_queue("cq", cohort="elsewhere"))
    desk.admin.on_cluster_queue(Modified(moved))
    text = desk.shown()
    of_the_queue = [one for one in text.splitlines() if 'cluster_queue="cq"' in one]
    assert any('cohort="elsewhere"' in one for one in of_the_queue)
    assert not any('cohort="team"' in one for one in of_the_queue)
    assert [one for one in of_the_queue if "borrowing_limit{" in one and "+Inf" not in one] == []
    desk.pump.on_workload(Deleted("ns/runs", "runs", None))
    desk.admin.on_cluster_queue(Deleted("cq", "", None))
    text = desk.shown()
    assert 'cluster_queue="cq"' not in text
    assert 'cohort="elsewhere"' not in text


def test_heads_that_met_overlapping_victims_are_counted() -> None:
    desk = Desk()
    modes = (Mode.PREEMPT, Mode.DEFERRED_FIT, Mode.SKIPPED, Mode.SKIPPED)
    waits = tuple(
        Wait(
            workload=Key(f"ns/{number}"),
            uid=Uid(str(number)),
            cluster_queue=QueueName("cq"),
            requeue=Requeue.IMMEDIATE,
            reason=Reason.WAITING_FOR_QUOTA,
            message="",
            mode=mode,
            targets=(Key("ns/victim"),),
            recomputed=number < 3,
        )
        for number, mode in enumerate(modes)
    )
    cycle = Cycle(number=1, now=NOW, rounds=(waits,), judged=4, finished=True, wake_at=None)
    desk.reporter.judged(cycle, 0.01)
    shown = desk.metrics.exposition().body.decode().splitlines()
    assert line("admission_cycle_preemption_skips", 2.0, **QUEUE) in shown
    for result in ("new_targets", "deferred_fit", "skipped"):
        name = "preemption_target_recomputations_total"
        assert line(name, 1.0, **QUEUE, result=result) in shown


def test_what_changed_is_measured_when_somebody_scrapes_and_not_before() -> None:
    desk = Desk()
    before = desk.shown()
    desk.hear(RUNNING)
    desk.reporter.changed(desk.engine.changed())
    gauges = [one for one in before.splitlines() if one.startswith("kueue_cluster_queue_resource")]
    assert gauges
    assert set(gauges) <= set(desk.metrics.exposition().body.decode().splitlines())
    wanted = line("cluster_queue_resource_usage", 6.0, **IN_TEAM)
    assert wanted in desk.shown(cycle=False)


def test_two_scrapes_at_once_both_wait_for_the_measuring_which_lets_others_work() -> None:
    desk = Desk()
    names = [f"cq-{number}" for number in range(3 * AT_ONCE)]
    for name in names:
        desk.admin.on_cluster_queue(Added(read(queues.ClusterQueue, cluster_queue(name))))
    desk.reporter.judged(desk.engine.cycle(NOW), 0.01)
    desk.reporter.changed(desk.engine.changed())
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def scrape() -> list[str]:
        working = asyncio.create_task(work())
        told = await asyncio.gather(desk.reporter.expose(), desk.reporter.expose())
        working.cancel()
        return [one.body.decode() for one in told]

    for text in asyncio.run(scrape()):
        shown = [one for one in text.splitlines() if one.startswith("kueue_cluster_queue_info{")]
        assert [name for name in names if not any(f'"{name}"' in one for one in shown)] == []
    assert turns >= len(names) // AT_ONCE


def quota_in(desk: Desk, queue: str) -> list[str]:
    """Return the cohort that the quota of a ClusterQueue is shown with; none without series."""
    shown = desk.metrics.exposition().body.decode().splitlines()
    mark = f'kueue_cluster_queue_nominal_quota{{cluster_queue="{queue}",cohort="'
    return [one.removeprefix(mark).split('"')[0] for one in shown if one.startswith(mark)]


def moved(desk: Desk, name: str, cohort: str) -> None:
    desk.admin.on_cluster_queue(
        Modified(read(queues.ClusterQueue, cluster_queue(name, cohort=cohort)))
    )


def measuring(desk: Desk) -> tuple[Gauges, Iterator[None]]:
    """Begin to measure: of the two queues, `other` has been measured and `cq` has not."""
    gauges = Gauges(desk.metrics, desk.engine, desk.objects, fair=True)
    steps = gauges.measure()
    next(steps)
    assert quota_in(desk, "other")
    assert not quota_in(desk, "cq")
    return gauges, steps


def test_a_queue_that_moves_to_a_new_cohort_while_others_are_measured_has_its_series() -> None:
    desk = Desk()
    _, steps = measuring(desk)
    moved(desk, "cq", "new")
    assert [*steps]
    assert quota_in(desk, "cq") == ["new"]


def test_a_queue_that_was_away_from_its_cohort_for_one_scrape_has_its_series_again() -> None:
    desk = Desk()
    moved(desk, "other", "own")
    gauges, steps = measuring(desk)
    moved(desk, "other", "team")
    assert [*steps]
    moved(desk, "other", "own")
    assert [*gauges.measure()]
    assert quota_in(desk, "other") == ["own"]


def test_a_queue_that_was_gone_for_one_scrape_has_its_series_again() -> None:
    desk = Desk()
    gauges, steps = measuring(desk)
    desk.admin.on_cluster_queue(Deleted("other", "", None))
    assert [*steps]
    assert quota_in(desk, "other") == []
    desk.admin.on_cluster_queue(Added(read(queues.ClusterQueue, cluster_queue("other"))))
    assert [*gauges.measure()]
    assert quota_in(desk, "other") == ["team"]


def claim(workload: str) -> objects.ResourceClaim:
    meta = {"name": f"of-{workload}", "namespace": "ns", "labels": {WORKLOAD_UID: workload}}
    held = {"metadata": meta, "spec": {"devices": {}}, "status": {"allocation": {}}}
    return read(objects.ResourceClaim, held)


class Looked(dict[Key, Workload]):
    """Workloads that are looked up, and never gone through."""

    @override
    def values(self) -> NoReturn:
        raise AssertionError


def test_claims_are_left_of_whom_holds_no_quota_and_nobody_else_is_looked_at() -> None:
    desk = Desk()
    evicted = workload("evicted", "1", RESERVED, ADMITTED, condition("Evicted"), held="cq")
    desk.hear(RUNNING, evicted, workload("waits", "1"))
    for name in ("runs", "evicted", "waits", "gone"):
        desk.objects.devices.put_claim(claim(name))
    desk.objects.workloads = Looked(desk.objects.workloads)
    shown = desk.shown().splitlines()
    assert 'queueing_device_claims_left{replica_role="leader"} 3.0' in shown
