"""Why a workload is in no queue is told once, whatever comes first."""

from queueing.core.decisions import Reason, Requeue, Wait
from queueing.core.facts import Gone, Kind
from queueing.core.names import Key
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    workload,
)


def test_why_one_is_in_no_queue_is_told_also_when_its_cluster_queue_comes_later() -> None:
    engine = Engine()
    engine.observe(local_queue())
    engine.observe(workload("off", active=False))
    engine.observe(cluster_queue())
    [told] = engine.cycle(1.0).decisions
    assert isinstance(told, Wait)
    assert told.reason is Reason.DEACTIVATED
    assert engine.cycle(2.0).decisions == ()


def test_twins_say_the_same_though_both_were_judged_at_different_times() -> None:
    engine = Engine()
    for fact in (
        namespace(),
        flavor(),
        cluster_queue(quotas={"default": {"cpu": 4}}),
        local_queue(),
        admitted("large", {"cpu": 4}, created=1.0),
        workload("later", {"cpu": 3}, created=5.0),
    ):
        engine.observe(fact)
    engine.cycle(10.0)
    old = engine.settled(Key("team/later"))
    engine.observe(Gone(Kind.WORKLOAD, "team/large"))
    engine.observe(admitted("small", {"cpu": 2}, created=1.0))
    engine.observe(workload("earlier", {"cpu": 3}, created=4.0))
    engine.cycle(11.0)
    earlier, later = (engine.settled(Key(f"team/{name}")) for name in ("earlier", "later"))
    assert old is not None
    assert earlier is not None
    assert later is not None
    assert earlier.message == later.message != old.message
    assert later == engine.waiting(Key("team/later"))
    assert later.uid == old.uid


def test_a_group_whose_pods_are_to_be_replaced_first_is_in_no_queue() -> None:
    engine = Engine()
    replaced = condition("WaitingForReplacementPods", "PodsFailed")
    for fact in (namespace(), flavor(), cluster_queue(), local_queue()):
        engine.observe(fact)
    engine.observe(workload("group", conditions=[replaced]))
    [told] = engine.cycle(1.0).decisions
    assert isinstance(told, Wait)
    assert (told.reason, told.requeue) == (Reason.PENDING_EVALUATION, Requeue.INADMISSIBLE)
    assert told.message == "Pods of the group are to be replaced first"
