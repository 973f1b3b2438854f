"""Who cannot be helped by sums has no victims by the letter of the rules, and that is most."""

from hypothesis import given

from queueing.core.fair_sharing.reach import may_help
from queueing.core.preemption.reach import Reach
from queueing.core.settings import FairSharing
from tests.core.preemption.letter_of_classical import letter_of_classical
from tests.core.preemption.letter_of_fair import letter_of_fair
from tests.core.preemption.plain_tree import World
from tests.core.preemption.test_by_the_letter import FEW, rules, worlds


def test_who_is_ruled_out_has_no_victims() -> None:
    vain = ruled_out = 0

    @FEW
    @given(worlds())
    def hold(world: World) -> None:
        nonlocal vain, ruled_out
        reach = Reach(world.query, world.arena)
        may_succeed = reach.within_quota() or reach.by_borrowing()
        if not letter_of_classical(world):
            vain += 1
            ruled_out += not may_succeed
        else:
            assert may_succeed

    hold()
    assert 2 * ruled_out > vain


def test_who_is_ruled_out_by_shares_has_no_victims() -> None:
    vain = ruled_out = 0

    @FEW
    @given(worlds(), rules)
    def hold(world: World, fair: FairSharing) -> None:
        nonlocal vain, ruled_out
        might = may_help(world.query, world.arena.tree, world.arena, fair)
        if not letter_of_fair(world, fair):
            vain += 1
            ruled_out += not might
        else:
            assert might

    hold()
    assert 2 * ruled_out > vain
