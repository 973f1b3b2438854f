"""Policies, grants and accounts, from objects to facts and back."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    PART,
    ChildRecord,
    CreditAccountFact,
    CreditMode,
    Member,
    Sink,
)
from queueing.core.credits.holding import Holding
from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName, Uid
from queueing.translate import credits as translate
from queueing.translate import credits_wire as wire
from queueing.translate.inbound.manifests import read
from queueing_api.queueing.v1alpha1 import CreditAccount

GPU = FlavorResource(FlavorName("fast"), ResourceName("nvidia.com/gpu"))
STORED = CreditAccountFact(
    cohort=CohortName("all"),
    as_of=1_800_000_000,
    policy="default",
    unit="GPUh",
    children=(
        ChildRecord(
            member=Member("ClusterQueue", "a"),
            balance=-5 * HOUR * MICRO * PART - 7,
            earned=3 * MICRO * PART,
            spent=9 * MICRO * PART,
            entitlement=4 * MICRO,
            borrowed_from=(("ClusterQueue/b", 6 * MICRO),),
        ),
        ChildRecord(
            member=Member("Cohort", "b"),
            balance=5 * HOUR * MICRO * PART + 3,
            lent_to=(("ClusterQueue/a", 6 * MICRO),),
            departed_at=1_799_999_000,
        ),
    ),
    sinks={**dict.fromkeys(Sink, 0), Sink.ROUNDING: 4},
    leavers=(
        Holding(
            uid=Uid("u"), queue=QueueName("a"), priority=3, since=1_799_999_990, usage={GPU: 4}
        ),
    ),
    grants={Uid("g"): False},
    grant_names={Uid("g"): "gift"},
)


def policy(spec: dict[str, Any]) -> Any:
    document = {"metadata": {"name": "default"}, "spec": spec}
    return translate.policy(read(wire.CreditPolicy, document))


def test_a_policy_has_defaults_for_all_but_prices() -> None:
    found = policy({"prices": [{"resource": "nvidia.com/gpu", "price": 1}]})
    assert found.mode is CreditMode.BALANCED
    assert (found.half_life_s, found.horizon_s, found.bound) == (14 * 24 * HOUR, 6 * HOUR, 4)
    assert (found.hysteresis, found.minimum_runtime_s) == (Fraction(5, 4), 0)
    assert (found.non_borrowing_min_priority, found.admission_hold_s) == (None, 0)
    assert found.prices.bill(GPU.flavor, {GPU.resource: 3}) == 3 * MICRO


def test_what_a_policy_says_is_heard() -> None:
    found = policy(
        {
            "mode": "Karma",
            "rootCohorts": ["z", "a"],
            "prices": [
                {"resource": "cpu", "price": "10m"},
                {"flavor": "fast", "resource": "cpu", "price": "20m"},
            ],
            "billing": "Sum",
            "halfLife": "1h",
            "horizon": "90s",
            "hysteresis": "1.5",
            "minimumRuntime": "30m",
            "classFactors": [
                {"minPriority": 100, "factor": "2"},
                {"minPriority": -5, "factor": "500m"},
            ],
            "debtLimit": "2h",
            "nonBorrowingMinPriority": 0,
            "admissionHold": "10m",
        }
    )
    assert (found.mode, found.bound, found.root_cohorts) == (CreditMode.KARMA, 60, ("a", "z"))
    assert (found.half_life_s, found.horizon_s) == (3600, 90)
    assert (found.minimum_runtime_s, found.debt_limit) == (1800, 7200)
    assert (found.non_borrowing_min_priority, found.admission_hold_s) == (0, 600)
    assert [found.factor(one) for one in (-10, 0, 100)] == [1, Fraction(1, 2), 2]
    assert found.prices.bill(FlavorName("fast"), {ResourceName("cpu"): 1000}) == 20_000
    assert found.prices.bill(FlavorName("slow"), {ResourceName("cpu"): 1000}) == 10_000


def test_a_grant_is_in_hours() -> None:
    found = translate.grant(
        read(
            wire.CreditGrant,
            {
                "metadata": {
                    "name": "g",
                    "uid": "u",
                    "creationTimestamp": "2027-01-15T08:00:00Z",
                },
                "spec": {
                    "receiver": {"kind": "Cohort", "name": "b"},
                    "amount": "-2.5",
                    "author": "ada",
                    "reason": "why not",
                    "expiresAt": "2027-01-15T09:00:00Z",
                },
            },
        )
    )
    assert (found.receiver, found.amount) == (Member("Cohort", "b"), -9000 * MICRO)
    assert (found.at, found.expires_at) == (1_800_000_000, 1_800_003_600)


def test_an_account_is_read_as_it_was_stored() -> None:
    status = translate.account_status(STORED)
    document = {"metadata": {"name": "all"}, "spec": {"cohortName": "all"}, "status": status}
    assert translate.account(read(wire.CreditAccount, document)) == STORED


def test_the_account_of_a_queue_is_read_as_it_was_stored() -> None:
    child = replace(STORED.children[0], member=Member("Namespace", "team"))
    stored = replace(STORED, cohort=None, queue=QueueName("q"), children=(child,))
    document = {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CreditAccount",
        "metadata": {"name": stored.name},
        "spec": translate.account_spec(stored),
        "status": translate.account_status(stored),
    }
    CreditAccount.from_wire(document)
    assert translate.account(read(wire.CreditAccount, document)) == stored


def test_an_account_is_what_the_schema_wants_and_people_can_read() -> None:
    status = translate.account_status(STORED)
    CreditAccount.from_wire(
        {
            "apiVersion": "queueing.dev/v1alpha1",
            "kind": "CreditAccount",
            "metadata": {"name": "all"},
            "spec": {"cohortName": "all"},
            "status": status,
        }
    )
    assert (status["largest"], status["smallest"]) == ("a -5.00 GPUh", "a -5.00 GPUh")
    assert status["children"][0]["weightFactor"] == "1"
