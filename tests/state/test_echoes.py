"""A status that tells of an assumed admission is charged as it says, whatever else it says.

It asks for a cycle only if that could decide something because of it.
"""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit
from queueing.core.facts import Admission, Fact, Gone, Kind, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, Key, PodSetName, ResourceName
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.core.stakes import Stake
from queueing.core.usage import holder_of
from queueing.state.engine import Engine
from queueing.state.usage.charges import Charge
from queueing.state.usage.ledger import is_same
from queueing.testing.builders import (
    admitted,
    assignment,
    cluster_queue,
    condition,
    local_queue,
    workload,
)
from queueing.testing.invariants import check_invariants
from queueing.testing.worlds import world

JOB = workload("job", {"cpu": 5_000})
TOLD = admitted("job", {"cpu": 5_000})
CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


def told(**changes: object) -> WorkloadFact:
    """Return the status that tells of the admission, with something else in it, too."""
    return replace(TOLD, **changes)  # type: ignore[arg-type] # fields by name


def granted(cpu: int) -> Admission:
    assert TOLD.admission is not None
    return replace(TOLD.admission, pod_sets=(assignment({"cpu": cpu}),))


def charged_after(status: WorkloadFact) -> Charge:
    """Admit the job, tell of it by a status, and return what is charged for it then."""
    engine = Engine()
    for fact in world(cluster_queue(), local_queue("team/other", "main"), JOB):
        engine.observe(fact)
    (admit,) = engine.cycle(1.0).decisions
    assert isinstance(admit, Admit)
    engine.observe(status)
    check_invariants(engine)
    return engine._memory.ledger.charges[Key("team/job")]


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(told(), id="nothing else"),
        pytest.param(told(priority=7), id="another priority"),
        pytest.param(told(local_queue=Key("team/other")), id="another LocalQueue"),
        pytest.param(told(created=-5.0), id="another creation"),
        pytest.param(told(admission=granted(4_000)), id="less than was decided"),
        pytest.param(told(reclaimable={PodSetName("main"): 1}), id="pods that are over"),
        pytest.param(told(given={PodSetName("main"): {CPU.resource: 1_000}}), id="fewer devices"),
        pytest.param(told(beside={CPU: 1_000}), id="a Job that saves for it"),
        pytest.param(told(stake=Stake(minimum_runtime_s=9.0)), id="what stopping it costs"),
        pytest.param(
            told(conditions={**TOLD.conditions, "Evicted": condition("Evicted")}), id="an eviction"
        ),
        pytest.param(
            told(conditions={"QuotaReserved": condition("QuotaReserved", changed=9.0)}),
            id="only a reservation, later",
        ),
    ],
)
def test_what_a_status_says_is_charged(status: WorkloadFact) -> None:
    charge = charged_after(status)
    read = Charge(holder_of(status, Settings()), status.is_true("Admitted"))
    assert charge.decision is None
    assert is_same(charge, read)


SMALL, HUGE = workload("small", {"cpu": 1_000}), workload("huge", {"cpu": 1_000_000})
TAKING_TURNS = Settings(
    admission_fair_sharing=AdmissionFairSharing(half_life_s=3_600.0, sampling_interval_s=300.0)
)


@pytest.mark.parametrize(
    ("others", "settings", "status", "asks"),
    [
        pytest.param((), Settings(), TOLD, False, id="nobody waits"),
        pytest.param((SMALL,), Settings(), TOLD, False, id="all were admitted"),
        pytest.param((HUGE,), Settings(), TOLD, True, id="somebody waits"),
        pytest.param((), TAKING_TURNS, TOLD, True, id="what is used counts over time"),
        pytest.param((), Settings(), SMALL, True, id="another one comes"),
        pytest.param((), Settings(), Gone(Kind.WORKLOAD, JOB.key), False, id="it is gone"),
        pytest.param((), Settings(), cluster_queue(), True, id="a queue, whose status cycles tell"),
    ],
)
def test_a_cycle_is_asked_for_if_it_could_decide_something(
    others: tuple[WorkloadFact, ...], settings: Settings, status: Fact, *, asks: bool
) -> None:
    engine = Engine(settings)
    for fact in world(cluster_queue(), local_queue("team/other", "main"), JOB, *others):
        engine.observe(fact)
    engine.cycle(1.0)
    assert engine.observe(status) is asks


def test_what_is_known_asks_for_no_cycle_whoever_waits() -> None:
    engine = Engine()
    for fact in world(cluster_queue(), HUGE):
        engine.observe(fact)
    engine.cycle(1.0)
    assert not engine.observe(HUGE)
