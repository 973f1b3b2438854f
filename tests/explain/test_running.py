"""What is told of a workload that holds quota."""

from queueing.core.facts import PreemptionPolicy
from queueing.core.names import Key
from queueing.core.stakes import Stake
from queueing.explain import answers
from queueing.state.engine import Engine
from queueing.testing.builders import admitted, cluster_queue, preemption
from queueing.testing.worlds import world


def test_a_protection_ends_while_nobody_waits_and_no_cycle_runs() -> None:
    engine, lower = Engine(), preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    for fact in world(cluster_queue("main", {"default": {"cpu": 4_000}}, preemption=lower)):
        engine.observe(fact)
    engine.observe(admitted("one", created=100.0, stake=Stake(minimum_runtime_s=60.0)))
    engine.cycle(110.0)
    for now, protected in ((None, True), (159.0, True), (160.0, False)):
        found = answers.workload(engine, Key("team/one"), now=now)
        assert found is not None
        assert found.run is not None
        assert (found.run.protected_until is not None) is protected
