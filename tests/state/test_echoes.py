"""A status that tells of an assumed admission is charged as it says, whatever else it says."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Admit
from queueing.core.facts import Admission, WorkloadFact
from queueing.core.holders import holder_of
from queueing.core.names import FlavorName, FlavorResource, Key, PodSetName, ResourceName
from queueing.core.settings import Settings
from queueing.core.stakes import Stake
from queueing.state.engine import Engine
from queueing.state.usage.charges import Charge, is_same
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
