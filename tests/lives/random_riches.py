"""Random lives in deep cohorts with credits, hard budgets, minimum runtimes and scarce devices.

What they have in common is that time decides, and what was before: balances bend weights, a budget
runs out, a runtime ends. So more time goes by in them.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from queueing.core.credits.facts import (
    MICRO,
    BudgetFact,
    CreditFact,
    CreditPolicyFact,
    HolderKind,
)
from queueing.core.credits.period import Period
from queueing.core.credits.prices import Prices
from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.facts import ClusterQueueFact, Fact, FlavorFact, PodSet, WorkloadFact
from queueing.core.names import ResourceName
from queueing.core.stakes import Stake
from tests.lives.random_contention import some_contention
from tests.lives.random_events import Event, Life, Step
from tests.lives.random_worlds import COHORTS, MODES, QUEUES, Choose

CPU = ResourceName("cpu")
PRICES = Prices({(None, CPU): MICRO})
_DEVICES = (DeviceAsk(resource=CPU, shape="half", needs_offer=True),)
_OFFERS = (
    DeviceOffer(),
    DeviceOffer(pods_max=2),
    DeviceOffer(pods_max=0, problem="no device has so much memory"),
)
_HOLDERS = (
    *((HolderKind.CLUSTER_QUEUE, name) for name in QUEUES),
    *((HolderKind.LOCAL_QUEUE, f"team/{name}") for name in QUEUES),
    *((HolderKind.COHORT, name) for name in COHORTS),
)
_STAKES = (
    None,
    None,
    Stake(minimum_runtime_s=90.0),
    Stake(saves=True, save_s=30.0, minimum_runtime_s=20.0),
)


def some_riches(choose: Choose, *, modes: Sequence[str] = MODES, size: int = 30) -> Life:
    """Choose a contended life, and what makes time count in it."""
    life = some_contention(choose, modes=modes, size=size)
    facts = [_with_limits(choose, fact) for fact in life.facts]
    steps: list[Step] = []
    for step in life.steps:
        steps.append(_with_a_past(choose, step) if isinstance(step, WorkloadFact) else step)
        if choose((False, False, True)):
            steps.append(Event("time", to=choose((10.0, 45.0, 400.0))))
    return Life(life.settings, facts, steps, _some_terms(choose))


def _some_terms(choose: Choose) -> tuple[CreditFact, ...]:
    policy = CreditPolicyFact(
        name="policy",
        prices=PRICES,
        half_life_s=choose((4_000, 400)),
        horizon_s=choose((300, 60)),
        hysteresis=choose((Fraction(1), Fraction(5, 4))),
        minimum_runtime_s=choose((0, 60)),
        non_borrowing_min_priority=choose((None, None, 3)),
        orders_local_queues=choose((False, True)),
    )
    budgets = [_some_budget(choose, f"budget-{at}") for at in range(choose((0, 1, 2)))]
    return (policy, *budgets)


def _some_budget(choose: Choose, name: str) -> BudgetFact:
    kind, holder = choose(_HOLDERS)
    return BudgetFact(
        name=name,
        kind=kind,
        holder=holder,
        grant=choose((0, 500, 4_000)) * MICRO,
        period=Period(choose((3_600, 600))),
        blocks=choose((True, False)),
        created=900,
    )


def _with_limits(choose: Choose, fact: Fact) -> Fact:
    match fact:
        case FlavorFact(name="default" | "spot"):
            return replace(fact, devices={"half": choose(_OFFERS)})
        case ClusterQueueFact():
            return replace(fact, preemptions_max=choose((None, None, 1)))
        case _:
            return fact


def _with_a_past(choose: Choose, fact: WorkloadFact) -> WorkloadFact:
    shapes = tuple(_with_devices(one) for one in fact.pod_sets)
    return replace(
        fact,
        pod_sets=choose((fact.pod_sets, fact.pod_sets, shapes)),
        stake=choose(_STAKES),
        max_execution_s=choose((None, None, None, 50, 500)),
    )


def _with_devices(pods: PodSet) -> PodSet:
    return replace(pods, devices=_DEVICES, shape=f"{pods.shape} with devices")
