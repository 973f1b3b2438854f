"""Between which nodes the hysteresis of a CreditPolicy counts."""

from fractions import Fraction

import pytest

from queueing.core.fair_sharing.patience import Patience
from queueing.core.quota.node import QuotaNode

BENT, STRAIGHT = Fraction(2), None


@pytest.mark.parametrize(
    ("mine", "theirs", "want"),
    [
        pytest.param(BENT, STRAIGHT, 6, id="the preemptor's weight is bent"),
        pytest.param(STRAIGHT, BENT, 6, id="the victim's is"),
        pytest.param(STRAIGHT, STRAIGHT, 4, id="neither is"),
    ],
)
def test_a_share_must_be_so_many_times_larger_where_credits_bend_a_weight(
    mine: Fraction | None, theirs: Fraction | None, want: int
) -> None:
    nodes = QuotaNode("mine", is_queue=True), QuotaNode("theirs", is_queue=True)
    nodes[0].bend_by(mine)
    nodes[1].bend_by(theirs)
    assert Patience(Fraction(3, 2)).demanded((0, 4.0), *nodes) == (0, want)
