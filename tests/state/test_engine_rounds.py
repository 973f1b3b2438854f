"""Single rounds, as a plan prints them, and cycles that are cut by a budget."""

from queueing.core.decisions import Admit, Requeue, Wait
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.names import Key
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, preemption, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import Deep, world

KUEUE = Settings(compatibility=Compatibility.KUEUE)


def engine_with(*facts: Fact, settings: Settings = KUEUE) -> Engine:
    engine = Engine(settings)
    for fact in facts:
        engine.observe(fact)
    return engine


def test_a_round_takes_one_head_per_queue_and_speaks_of_everybody() -> None:
    jobs = [workload(f"job-{number}", created=float(number)) for number in range(3)]
    gated = workload("gated", admission_gates=("later",))
    engine = engine_with(*world(cluster_queue(), *jobs, gated))
    (decisions,) = engine.round(1.0).rounds
    assert [(type(one), one.workload) for one in decisions] == [
        (Admit, "team/job-0"),
        (Wait, "team/job-1"),
        (Wait, "team/job-2"),
        (Wait, "team/gated"),
    ]
    waits = [one.requeue for one in decisions if isinstance(one, Wait)]
    assert waits == [Requeue.NOT_HEAD, Requeue.NOT_HEAD, Requeue.NOT_QUEUED]


def test_a_cut_cycle_says_so_and_goes_on_where_it_stopped() -> None:
    deep = Deep(queues=20, each=5, queues_per_cohort=5, shapes=7)
    engine = engine_with(*deep.objects(), *deep.workloads(), settings=Settings())
    judged = []
    while True:
        cycle = engine.cycle(1.0, budget=10)
        judged.append(cycle.judged)
        if cycle.finished:
            break
    assert max(judged) <= 10
    assert sum(judged) >= 100
    check_invariants(engine)
    assert engine.cycle(2.0).judged == 0


def test_a_tree_is_judged_whole_even_if_it_overruns_the_budget() -> None:
    deep = Deep(queues=6, each=1, queues_per_cohort=6)
    engine = engine_with(*deep.objects(), *deep.workloads(), settings=Settings())
    assert engine.cycle(1.0, budget=1).judged == 6


def test_the_tree_after_the_last_one_comes_first_so_that_none_is_always_late() -> None:
    queues = [cluster_queue(name, cohort="a") for name in ("a-1", "a-2")]
    queues += [cluster_queue(name) for name in ("b", "c")]
    cluster = ObedientCluster(world(cluster_queues=queues))
    for name, asked in (("small", 1_000), ("large", 9_000), ("waits", 5_000)):
        cluster.observe(workload(name, {"cpu": asked}, local_queue="team/b"))
    cluster.cycle()
    assert cluster.running() == ["team/large", "team/small"]
    cluster.finish(Key("team/small"))
    for name in ("a-1", "a-2", "c"):
        cluster.observe(workload(f"job-{name}", local_queue=f"team/{name}"))
    order = [cluster.engine.cycle(2_000.0, budget=1).decisions[0].workload]
    cluster.observe(workload("fits", local_queue="team/b"))
    order += [cluster.engine.cycle(2_000.0, budget=1).decisions[0].workload for _ in range(2)]
    assert order == ["team/job-c", "team/job-a-1", "team/fits"]


def test_cost_does_not_grow_with_what_did_not_change() -> None:
    deep = Deep(queues=50, each=20, queues_per_cohort=5)
    engine = engine_with(*deep.objects(), *deep.workloads(), settings=Settings())
    engine.cycle(1.0)
    engine.observe(workload("one-more", {"cpu": 1}, local_queue="team/queue-00007"))
    assert engine.cycle(2.0).judged == 1


def test_a_cycle_of_many_fair_preemptors_ends_before_any_victim_has_left() -> None:
    policies = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)
    fair = Settings(fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare",)))
    deep = Deep(queues=10, each=20, preemption=policies)
    cluster = ObedientCluster([*deep.objects(), *deep.workloads()], fair)
    assert any(cluster.cycle(budget=60).finished for _ in range(300))
    assert cluster.cycle().judged == 0
    check_invariants(cluster.engine)


def test_a_cohort_may_have_the_name_of_a_queue_without_one() -> None:
    queues = [cluster_queue("same"), cluster_queue("member", cohort="same")]
    jobs = [workload(one.name, local_queue=f"team/{one.name}") for one in queues]
    engine = engine_with(*world(*jobs, cluster_queues=queues), settings=Settings())
    assert [one.workload for one in engine.cycle(1.0).decisions] == ["team/member", "team/same"]
