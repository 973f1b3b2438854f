"""From when to when a simulation is reported on."""

from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.sim.simulation.durations import fixed
from queueing.sim.simulation.study import Study, simulate
from queueing.testing.builders import cluster_queue, local_queue, workload
from queueing.testing.worlds import world


def test_a_simulation_ends_with_what_happened_last_though_usage_decays_for_longer() -> None:
    turns = AdmissionFairSharing(half_life_s=3_600.0, sampling_interval_s=300.0)
    facts = world(
        cluster_queue(admission_fair_sharing=True),
        local_queue("team/a"),
        local_queue("team/b"),
        workload("runs", {"cpu": 10_000}, local_queue="team/a"),
        workload("waits", {"cpu": 11_000}, local_queue="team/a"),
        workload("waits-too", {"cpu": 11_000}, local_queue="team/b"),
    )
    run = simulate(
        Study(
            name="it",
            facts=tuple(facts),
            settings=Settings(admission_fair_sharing=turns),
            begins=1_000.0,
            runs=fixed(100.0),
        )
    )
    assert (run.finished, run.waiting) == (1, 2)
    assert run.seconds == 100.0
