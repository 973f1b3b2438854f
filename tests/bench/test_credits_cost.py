from bench import core_alone, credits_cost
from queueing.core.settings import Settings
from queueing.testing.worlds import Deep

SMALL = Deep(queues=10, each=3, queues_per_cohort=5, shapes=10)


def test_a_policy_decides_as_none_does_while_no_balance_bends_anything() -> None:
    runs = [
        core_alone.run(SMALL, Settings(), name="e", policy=policy)
        for policy in (None, *credits_cost.KINDS.values())
    ]
    assert len({(one.numbers["decisions"], one.numbers["virtual seconds"]) for one in runs}) == 1
    assert all(one.numbers["left unfinished"] == 0 for one in runs)


def test_each_kind_of_policy_is_compared_in_each_mode() -> None:
    found = credits_cost.measure((("classical", Settings()),), SMALL, pairs=1)
    assert [one.scenario for one in found] == [
        "e, a policy, classical",
        "e, and rows of usage, classical",
    ]
