"""Which evictions that were decided and are not written yet are still needed."""

from dataclasses import replace

import pytest

from queueing.core.decisions import Outcome, Preempt, Verdict
from queueing.core.devices import DeviceOffer
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.names import Key
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world
from tests.state.test_shared_claims import MAIN, job, user

BY_PRIORITY = cluster_queue(preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY))


def chosen(cluster: ObedientCluster) -> list[Preempt]:
    return [one for one in cluster.engine.cycle(3.0).decisions if isinstance(one, Preempt)]


@pytest.mark.parametrize("first", ["a", "z"])
def test_victims_that_share_a_claim_are_needed_together_whoever_is_charged_for_it(
    first: str,
) -> None:
    sizes = (4, 8)
    offers = {f"{n} of shared": DeviceOffer(amount=n, pods_max=256, together=True) for n in sizes}
    objects: list[Fact] = [namespace(), replace(flavor(), devices=offers), MAIN, local_queue()]
    cluster = ObedientCluster(objects)
    for at, name in enumerate((first, "b")):
        cluster.observe(job(name, at=float(at)))
        cluster.cycle()
    cluster.observe(job("vip", user("its own"), at=2.0, priority=5))
    for one in chosen(cluster):
        assert cluster.engine.stands_by(one)
        cluster.evict(one)
    assert cluster.draining() == sorted(Key(f"team/{name}") for name in (first, "b"))


def two_preemptors() -> ObedientCluster:
    cluster = ObedientCluster(world(BY_PRIORITY))
    for number in (1, 2):
        cluster.observe(admitted(f"low-{number}", {"cpu": 5_000}))
        cluster.observe(workload(f"high-{number}", {"cpu": 5_000}, priority=number))
    return cluster


def test_an_eviction_is_needed_while_its_preemptor_is_to_be_judged_after_anothers_refusal() -> None:
    cluster = two_preemptors()
    refused, other = chosen(cluster)
    cluster.engine.settle(Outcome(decision=refused, verdict=Verdict.REFUSED))
    assert cluster.engine.stands_by(other)
    assert not cluster.engine.stands_by(refused)


def test_an_eviction_is_needed_while_its_preemptor_is_to_be_judged_with_another_priority() -> None:
    cluster = two_preemptors()
    decided = chosen(cluster)
    for number in (1, 2):
        cluster.observe(workload(f"high-{number}", {"cpu": 5_000}, priority=number + 3))
    assert all(map(cluster.engine.stands_by, decided))
