"""Who cannot be helped by sums has no victims by the letter of the rules, and that is many."""

from collections import Counter
from dataclasses import replace

from hypothesis import given

from queueing.core.preemption.reach import Reach
from queueing.core.settings import FairSharing
from tests.core.preemption.letter_of_classical import letter_of_classical
from tests.core.preemption.letter_of_fair import letter_of_fair
from tests.core.preemption.plain_tree import World
from tests.core.preemption.test_by_the_letter import FEW, rules, worlds


def test_who_is_ruled_out_has_no_victims() -> None:
    vain, ruled_out = Counter[bool](), Counter[bool]()

    @FEW
    @given(worlds(), rules)
    def hold(world: World, fair: FairSharing) -> None:
        for by_shares in (False, True):
            preemptor = replace(world.query.preemptor, reach=Reach(by_shares=by_shares))
            may_succeed = replace(world.query, preemptor=preemptor).may_succeed(world.arena)
            victims = letter_of_fair(world, fair) if by_shares else letter_of_classical(world)
            if victims:
                assert may_succeed
            else:
                vain[by_shares] += 1
                ruled_out[by_shares] += not may_succeed

    hold()
    assert all(3 * ruled_out[by_shares] > vain[by_shares] for by_shares in (False, True))
