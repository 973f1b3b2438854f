from dataclasses import replace

from bench import credits_cost
from queueing.core.settings import Settings
from queueing.testing.worlds import Deep

SMALL = Deep(queues=10, each=3, queues_per_cohort=5, shapes=10)


def test_a_policy_decides_as_none_does_while_no_balance_bends_anything() -> None:
    runs = [side.run for side in credits_cost.lockstep(SMALL, Settings(), 0).values()]
    assert len(runs) == 4
    assert len({(one.counts.decisions, one.time.now) for one in runs}) == 1
    assert all(one.is_true("Finished") for run in runs for one in run.workloads.values())


def test_each_kind_of_policy_is_compared_in_each_mode() -> None:
    tiny = replace(SMALL, each=1)
    found = credits_cost.measure((("classical", Settings()),), tiny, turns=1)
    assert [one.scenario for one in found] == [
        "e, no policy, classical",
        "e, a policy, classical",
        "e, and rows of usage, classical",
        "e, a policy that bends, classical",
    ]
