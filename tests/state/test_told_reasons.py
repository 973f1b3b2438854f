"""Why a workload is in no queue is told once, whatever comes first."""

from queueing.core.decisions import Reason, Wait
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, local_queue, workload


def test_why_one_is_in_no_queue_is_told_also_when_its_cluster_queue_comes_later() -> None:
    engine = Engine()
    engine.observe(local_queue())
    engine.observe(workload("off", active=False))
    engine.observe(cluster_queue())
    [told] = engine.cycle(1.0).decisions
    assert isinstance(told, Wait)
    assert told.reason is Reason.DEACTIVATED
    assert engine.cycle(2.0).decisions == ()
