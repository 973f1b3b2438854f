"""Every series that names a queue or a cohort is there with its object, and goes with it."""

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
    ChildRecord,
    CreditAccountFact,
    CreditPolicyFact,
    Member,
)
from queueing.core.credits.prices import Prices
from queueing.core.names import CohortName, Key, QueueName, ResourceName
from queueing.kube.reflector import Added, Deleted
from queueing.observe.metric_rows import (
    CLUSTER_QUEUE,
    COHORT,
    LOCAL_QUEUE,
    NAMING,
    MetricKind,
    MetricRow,
)
from queueing.observe.metric_table import ROWS, TABLE
from queueing.translate.inbound.manifests import read
from queueing.translate.wire import queues
from tests.controller.telemetry.desk import (
    NOW,
    QUEUE,
    RUNNING,
    Desk,
    cluster_queue,
    line,
    local_queue,
    workload,
)

NAMES = {CLUSTER_QUEUE: ("cq",), LOCAL_QUEUE: ("door", "ns"), COHORT: ("team",)}
COUNTED = [
    row
    for row in TABLE
    if row.kind is not MetricKind.GAUGE or row.name.endswith("preemption_skips")
]
"""What is counted when it happens. The other gauges are measured at each scrape."""


def used() -> Desk:
    """Return a desk where every gauge of a queue and of a cohort has something to show."""
    desk = Desk()
    desk.engine.observe(
        CreditPolicyFact(
            name="p",
            prices=Prices({(None, ResourceName("cpu")): MICRO}),
            half_life_s=10**9,
            orders_local_queues=True,
        )
    )
    for queue, cohort, member in (
        (None, CohortName("all"), Member("Cohort", "team")),
        (None, CohortName("team"), Member("ClusterQueue", "cq")),
        (QueueName("cq"), None, Member("Namespace", "ns")),
    ):
        child = ChildRecord(member=member, balance=MICRO * PART)
        desk.engine.observe(
            CreditAccountFact(queue=queue, cohort=cohort, as_of=int(NOW), children=(child,))
        )
    desk.hear(RUNNING, workload("waits", "70"))
    desk.shown()
    return desk


def count(desk: Desk, row: MetricRow) -> None:
    """Count something for the objects of the desk."""
    named: dict[str, str] = {}
    for group in row.naming:
        named |= dict(zip(group, NAMES[NAMING[group]], strict=True))
    series = getattr(desk.metrics, row.name).labels(**{**dict.fromkeys(row.labels, "x"), **named})
    series.observe(1) if row.kind is MetricKind.HISTOGRAM else series.inc()


def naming(text: str, row: MetricRow, group: tuple[str, ...]) -> list[str]:
    """Return the series of a family that name the desk's object by these labels."""
    marks = [f'{label}="{value}"' for label, value in zip(group, NAMES[NAMING[group]], strict=True)]
    return [
        one
        for one in text.splitlines()
        if one.startswith(row.full_name) and all(mark in one for mark in marks)
    ]


@pytest.mark.parametrize(
    ("row", "group"),
    [
        pytest.param(row, group, id=f"{row.full_name} by {' '.join(group)}")
        for row in TABLE
        for group in row.naming
    ],
)
def test_a_series_is_there_with_its_object_and_goes_with_it(
    row: MetricRow, group: tuple[str, ...]
) -> None:
    desk = used()
    if row in COUNTED:
        count(desk, row)
    assert naming(desk.shown(), row, group)
    for name in ("runs", "waits"):
        desk.pump.on_workload(Deleted(f"ns/{name}", name, None))
    desk.admin.on_local_queue(Deleted("ns/door", "", None))
    for name in ("cq", "other"):
        desk.admin.on_cluster_queue(Deleted(name, "", None))
    for name in ("team", "all"):
        desk.admin.on_cohort(Deleted(name, "", None))
    if row in COUNTED:
        count(desk, row)  # what is counted late does not bring them back
    assert naming(desk.shown(), row, group) == []


def test_what_is_counted_of_a_queue_that_came_back_is_shown() -> None:
    desk = used()
    admitted = desk.objects.workloads[Key("ns/runs")]
    told = line("admitted_workloads_total", 1.0, **QUEUE, priority_class="")
    for _ in range(2):
        desk.reporter.confirmed(admitted)
        assert told in desk.shown()
        desk.admin.on_cluster_queue(Deleted("cq", "", None))
        assert told not in desk.shown()
        desk.admin.on_cluster_queue(Added(read(queues.ClusterQueue, cluster_queue("cq"))))


OF_LOCAL_QUEUES = [row for row in TABLE if LOCAL_QUEUE in row.naming]
HELD = [
    row
    for row in OF_LOCAL_QUEUES
    if row.name.endswith(("reserving_active_workloads", "admitted_active_workloads"))
]


@pytest.mark.parametrize(
    "row",
    [row for row in OF_LOCAL_QUEUES if "cluster_queue" not in row.labels],
    ids=lambda row: row.full_name,
)
def test_without_its_cluster_queue_a_local_queue_holds_nothing_and_keeps_the_rest(
    row: MetricRow,
) -> None:
    desk = used()
    if row in COUNTED:
        count(desk, row)
    desk.pump.on_workload(Deleted("ns/runs", "runs", None))
    desk.admin.on_cluster_queue(Deleted("cq", "", None))
    shown = naming(desk.shown(), row, LOCAL_QUEUE)
    if row in HELD:
        assert shown == []
    elif "resource" not in row.name:
        assert shown


def test_a_local_queue_that_came_before_its_cluster_queue_holds_nothing_yet() -> None:
    desk = Desk()
    desk.admin.on_local_queue(Added(read(queues.LocalQueue, local_queue("early", "later"))))
    text = desk.shown()
    assert 'kueue_local_queue_pending_workloads{name="early"' in text
    assert 'kueue_local_queue_reserving_active_workloads{name="early"' not in text


def test_a_family_without_series_is_not_mentioned() -> None:
    text = Desk().shown()
    assert "kueue_evicted_workloads_total" not in text
    assert "# TYPE kueue_pending_workloads gauge" in text
    heads = [one.split()[2] for one in text.splitlines() if one.startswith("# TYPE")]
    names = {one.partition("{")[0] for one in text.splitlines() if not one.startswith("#")}
    assert [one for one in heads if not any(name.startswith(one) for name in names)] == []


def test_every_family_of_a_queue_or_cohort_names_it_by_known_labels() -> None:
    of_objects = [
        row for row in TABLE if any("queue" in one or "cohort" in one for one in row.labels)
    ]
    assert [row.name for row in of_objects if not row.naming] == []
    assert ROWS["preempted_workloads_total"].naming == (("preempting_cluster_queue",),)
