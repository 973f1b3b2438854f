from bench.credits import FAIR_PART, Story, Tenant, by_class, simulate
from queueing.core.credits.facts import Mode


def test_tenants_want_as_much_as_each_other_over_time() -> None:
    for duty in (1.0, 0.5, 0.125):
        tenant = Tenant("t", duty, phase=7)
        wanted = sum(tenant.wants(slot, 1.2) for slot in range(400))
        assert abs(wanted / 400 - 1.2 * FAIR_PART) < 1


def test_a_story_is_the_same_each_time_it_is_told() -> None:
    story = Story(mode=Mode.BALANCED, slots=8)
    first, again = simulate(story), simulate(story)
    assert [one.got for one in first] == [one.got for one in again]
    assert by_class(first, lambda one: one.asked)[1.0] > 0
