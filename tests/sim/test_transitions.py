"""What a simulation writes into statuses is what the controller would."""

from queueing.core.decisions import Preempt
from queueing.core.facts import PreemptionPolicy
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.sim.world import SimulatedCluster
from queueing.state.intake.marks import preemptor_of
from queueing.testing.builders import cluster_queue, preemption, workload
from queueing.testing.worlds import world


def test_a_victim_says_for_whom_it_makes_room_as_the_controller_has_it_say() -> None:
    takes = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    queue = cluster_queue("one", {"default": {"cpu": 1000}}, preemption=takes)
    low = workload("low", {"cpu": 1000}, local_queue="team/one", priority=0)
    high = workload("high", {"cpu": 1000}, local_queue="team/one", priority=1)
    simulated = SimulatedCluster(world(queue, low), settings=Settings())
    simulated.cycle(1.0)
    simulated.observe(high)
    (preempted,) = (one for one in simulated.cycle(2.0).decisions if isinstance(one, Preempt))
    conditions = simulated.workloads[Key(preempted.workload)].conditions
    assert preempted.workload == low.key
    assert conditions["Preempted"].message == conditions["Evicted"].message
    assert conditions["Preempted"].message == (
        f"Preempted to accommodate a workload (UID: {high.uid}, JobUID: UNKNOWN) due to"
        " prioritization in the ClusterQueue; preemptor path: /one; preemptee path: /one"
    )
    assert preemptor_of(conditions["Preempted"].message) == high.uid
