"""CreditPolicy, CreditGrant and CreditAccount as the API takes them."""

from typing import Any

import pytest
from pydantic import ValidationError

from queueing_api.queueing.v1alpha1 import CreditAccount, CreditGrant, CreditPolicy
from queueing_api.scheme import decode

API = {"apiVersion": "queueing.dev/v1alpha1"}
POLICY: dict[str, Any] = {
    **API,
    "kind": "CreditPolicy",
    "metadata": {"name": "default"},
    "spec": {"prices": [{"resource": "nvidia.com/gpu", "price": "1"}]},
}
GRANT: dict[str, Any] = {
    **API,
    "kind": "CreditGrant",
    "metadata": {"name": "welcome"},
    "spec": {
        "receiver": {"kind": "ClusterQueue", "name": "vision"},
        "amount": "100",
        "author": "ada",
        "reason": "the outage of May",
    },
}
ACCOUNT: dict[str, Any] = {
    **API,
    "kind": "CreditAccount",
    "metadata": {"name": "all"},
    "spec": {"cohortName": "all"},
}


def test_a_policy_needs_no_more_than_a_price() -> None:
    policy = decode(POLICY)
    assert isinstance(policy, CreditPolicy)
    spec = policy.spec
    assert (spec.mode, spec.half_life, spec.horizon) == ("Balanced", "336h", "6h")
    assert (spec.hysteresis, spec.minimum_runtime, spec.bound) == ("1.25", None, None)
    assert policy.to_wire() == POLICY


def test_grants_and_accounts_survive_a_round_trip() -> None:
    for document, kind in ((GRANT, CreditGrant), (ACCOUNT, CreditAccount)):
        found = decode(document)
        assert isinstance(found, kind)
        assert found.to_wire() == document


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"prices": []}, id="no price"),
        pytest.param({"prices": [{"resource": "cpu"}]}, id="a price without an amount"),
        pytest.param({"mode": "Wild"}, id="unknown mode"),
        pytest.param({"halfLife": "two weeks"}, id="no duration"),
        pytest.param({"bound": -1}, id="a negative bound"),
        pytest.param({"hysteresis": "much"}, id="no number"),
    ],
)
def test_a_policy_that_means_nothing_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CreditPolicy.from_wire({**POLICY, "spec": {**POLICY["spec"], **change}})


@pytest.mark.parametrize("field", ["amount", "author", "reason", "receiver"])
def test_a_grant_says_what_to_whom_by_whom_and_why(field: str) -> None:
    spec = {name: value for name, value in GRANT["spec"].items() if name != field}
    with pytest.raises(ValidationError):
        CreditGrant.from_wire({**GRANT, "spec": spec})
