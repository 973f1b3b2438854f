"""A sweep at rest judges those who wait again, so that a missed event costs time only."""

from queueing.core.settings import Compatibility, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, local_queue, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world


def crowded(settings: Settings) -> Engine:
    """Return an engine of two full queues, in each of which two shapes wait, one of them twice."""
    engine = Engine(settings)
    queues = [cluster_queue(name, {"default": {"cpu": 9}}) for name in ("one", "two")]
    jobs = [
        workload(f"{one.name}-{at}", {"cpu": cpu}, local_queue=f"team/{one.name}", created=at)
        for one in queues
        for at, cpu in enumerate((9, 8, 7, 7))
    ]
    for fact in world(*jobs, cluster_queues=queues):
        engine.observe(fact)
    engine.cycle(1.0)
    return engine


def test_it_lets_one_of_each_shape_be_judged_again() -> None:
    engine = crowded(Settings())
    assert engine.sweep(10) == 4
    assert engine.cycle(2.0).judged == 4
    check_invariants(engine)


def test_who_waits_longest_is_next_and_each_queue_has_its_turn() -> None:
    engine = crowded(Settings())
    judged = []
    for now in range(5):
        assert engine.sweep(1) == 1
        judged += [one.workload for one in engine.cycle(2.0 + now).decisions]
    assert judged == ["team/one-1", "team/two-1", "team/one-2", "team/two-2", "team/one-1"]


def test_there_is_nothing_to_sweep_where_nobody_waits() -> None:
    engine = Engine()
    for fact in world(cluster_queue(), workload()):
        engine.observe(fact)
    engine.cycle(1.0)
    assert engine.sweep(10) == 0
    assert engine.queues_to_judge == 0


def test_queues_with_work_are_counted_while_nobody_waits() -> None:
    engine = Engine()
    for fact in world(cluster_queue(), workload(), local_queue("team/b", "b"), cluster_queue("b")):
        engine.observe(fact)
    engine.observe(workload("b", {"cpu": 1}, local_queue="team/b"))
    assert engine.queues_to_judge == 2
    engine.cycle(1.0)
    assert engine.queues_to_judge == 0


def test_no_queues_are_counted_while_somebody_waits() -> None:
    engine = crowded(Settings())
    engine.observe(workload("next", {"cpu": 1}))
    assert engine.queues_to_judge == 0


def test_in_kueue_mode_nobody_is_judged_without_an_event_of_its_list() -> None:
    engine = crowded(Settings(compatibility=Compatibility.KUEUE))
    assert engine.sweep(10) == 0
    assert engine.cycle(2.0).judged == 0
