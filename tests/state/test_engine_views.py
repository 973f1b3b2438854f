"""What the engine shows of itself."""

from queueing.core.facts import (
    CheckFact,
    Fact,
    FlavorFact,
    Gone,
    Kind,
    LocalQueueFact,
    StopPolicy,
)
from queueing.core.names import CohortName, FlavorName, FlavorResource, Key, QueueName, ResourceName
from queueing.core.settings import FairSharing, Settings
from queueing.reports import queues as reports
from queueing.reports.views import Charged
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    check_rule,
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    workload,
)
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world

MAIN = QueueName("main")
CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
FLAVOR = flavor()


def engine_with(*facts: Fact, settings: Settings | None = None) -> Engine:
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


def test_reservation_and_usage_tell_how_much_is_borrowed() -> None:
    lender = cluster_queue("lender", cohort="all")
    engine = engine_with(
        *world(lender, cluster_queue(cohort="all"), admitted("big", {"cpu": 13_000}))
    )
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert (view.reserving, view.admitted, view.pending) == (1, 1, 0)
    assert view.reservation == view.usage == {CPU: Charged(total=13_000, borrowed=3_000)}
    cohort = reports.cohort(engine.memory, CohortName("all"))
    assert cohort is not None
    assert (cohort.quota[CPU], cohort.usage[CPU].total) == (20_000, 13_000)
    door = reports.local_queue(engine.memory, Key("team/main"))
    assert door is not None
    assert door.usage == {CPU: Charged(total=13_000, borrowed=0)}


def test_shares_are_shown_under_fair_sharing() -> None:
    fair = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
    lender = cluster_queue("lender", cohort="all")
    facts = world(lender, cluster_queue(cohort="all"), admitted("big", {"cpu": 15_000}))
    view = reports.cluster_queue(engine_with(*facts, settings=fair).memory, MAIN)
    assert view is not None
    assert view.weighted_share == 250


def test_an_inactive_queue_says_all_that_is_wrong() -> None:
    queue = cluster_queue(stop_policy=StopPolicy.HOLD, checks=(check_rule("there"),))
    engine = engine_with(queue, local_queue(), CheckFact(name=queue.checks[0].name, controller=""))
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert (view.active.status, view.active.reason) == (False, "Stopped")
    assert view.active.message == (
        "Can't admit new workloads: is stopped, "
        "references missing ResourceFlavor(s): default, "
        "references inactive AdmissionCheck(s): there."
    )
    door = reports.local_queue(engine.memory, Key("team/main"))
    assert door is not None
    assert door.active.reason == "ClusterQueueIsInactive"
    assert reports.cluster_queue(engine.memory, QueueName("unknown")) is None


def test_pending_is_in_queue_order_with_the_place_in_both_queues() -> None:
    second = LocalQueueFact(key=Key("team/second"), cluster_queue=MAIN)
    jobs = [
        workload("late", created=2.0),
        workload("urgent", {"cpu": 11_000}, priority=1, created=3.0, local_queue="team/second"),
        workload("early", created=1.0, local_queue="team/second"),
    ]
    engine = engine_with(*world(cluster_queue(), second, *jobs))
    got = [
        (one.key, one.position_in_cluster_queue, one.position_in_local_queue)
        for one in reports.pending(engine.memory, MAIN)
    ]
    assert got == [("team/urgent", 0, 0), ("team/early", 1, 1), ("team/late", 2, 0)]
    engine.cycle(1.0)
    (only,) = reports.pending(engine.memory, MAIN)
    assert (only.key, only.inadmissible) == ("team/urgent", True)


def test_changed_names_what_to_look_at_again_and_is_drained() -> None:
    other = cluster_queue("other", cohort="all")
    engine = engine_with(*world(cluster_queue(cohort="all"), other))
    engine.changed()
    engine.observe(workload())
    told = engine.changed()
    assert (told.cluster_queues, told.local_queues, told.cohorts) == (("main",), ("team/main",), ())
    engine.cycle(1.0)
    told = engine.changed()
    assert (told.cluster_queues, told.local_queues) == (("main",), ("team/main",))
    assert told.cohorts == ("all",)
    assert engine.changed().cluster_queues == ()


def test_the_end_of_what_runs_changes_the_views_of_its_queue_and_cohort() -> None:
    engine = engine_with(*world(cluster_queue(cohort="all"), admitted("running", {"cpu": 4_000})))
    engine.changed()
    engine.observe(Gone(kind=Kind.WORKLOAD, name="team/running"))
    told = engine.changed()
    assert (told.cluster_queues, told.local_queues) == (("main",), ("team/main",))
    assert told.cohorts == ("all",)


def test_another_quota_changes_the_views_of_a_queue_and_its_cohort() -> None:
    engine = engine_with(*world(cluster_queue(cohort="all")))
    engine.cycle(1.0)
    engine.changed()
    engine.observe(cluster_queue(quotas={"default": {"cpu": 5_000}}, cohort="all"))
    told = engine.changed()
    assert (told.cluster_queues, told.cohorts) == (("main",), ("all",))


def test_who_is_to_be_judged_again_changes_the_views_of_its_queues() -> None:
    engine = engine_with(*world(cluster_queue(), workload("large", {"cpu": 11_000})))
    engine.cycle(1.0)
    engine.changed()
    assert engine.sweep(1) == 1
    told = engine.changed()
    assert (told.cluster_queues, told.local_queues) == (("main",), ("team/main",))


def test_usage_appears_when_the_queue_does() -> None:
    engine = engine_with(admitted("running", {"cpu": 4_000}))
    for fact in world(cluster_queue(), FlavorFact(name=FlavorName("default"))):
        engine.observe(fact)
    view = reports.cluster_queue(engine.memory, MAIN)
    assert view is not None
    assert view.usage[CPU].total == 4_000
    check_invariants(engine)


def test_a_ring_of_cohorts_that_is_broken_up_changes_the_view_of_all_its_queues() -> None:
    ring = [cohort("left", "right"), cohort("right", "left")]
    queues = [cluster_queue("a", cohort="left"), cluster_queue("b", cohort="right")]
    engine = engine_with(*ring, *queues, local_queue("team/b", "b"), FLAVOR)
    engine.cycle(1.0)
    engine.changed()
    assert not any(_is_active(engine, name) for name in "ab")
    engine.observe(cohort("left"))
    engine.cycle(2.0)
    told = engine.changed()
    assert (told.cluster_queues, told.local_queues) == (("a", "b"), ("team/b",))
    assert all(_is_active(engine, name) for name in "ab")


def _is_active(engine: Engine, name: str) -> bool:
    view = reports.cluster_queue(engine.memory, QueueName(name))
    return view is not None and view.active.status
