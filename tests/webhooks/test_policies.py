"""What is rendered for the API server; that it says what the table says is tried on a real one."""

import re

import pytest

from queueing.core.selectors import Requirement, Selector
from queueing.webhooks.jobs import QUEUE
from queueing.webhooks.policies.demand import GROUP, Demand
from queueing.webhooks.policies.queued import NAMES
from queueing.webhooks.policies.quotas import FLAVORS_OF_CHECKS
from queueing.webhooks.policies.render import POLICIES, render
from queueing.webhooks.scope import Scope
from tests.webhooks.table import Row, rows

KINDS = {"clusterqueues": "ClusterQueue", "cohorts": "Cohort", "workloads": "Workload"}
ROWS = rows()
OBJECT_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
TEAMS = Scope(
    namespaces=Selector((Requirement(key="team", operator="Exists"),)), namespace="batch-system"
)


@pytest.mark.parametrize(
    ("kind", "demand"),
    [
        pytest.param(
            KINDS.get(policy.resources[0], "Job"), demand, id=f"{policy.name}: {demand.message}"
        )
        for policy in (*POLICIES, FLAVORS_OF_CHECKS)
        for demand in policy.demands
    ],
)
def test_every_demand_has_a_row_in_the_table(kind: str, demand: Demand) -> None:
    said = [row.says for row in ROWS if row.kind == kind and row.says]
    told = f"{demand.message} {demand.words}"
    assert any(one in told or demand.message in one or lead(one) in told for one in said)


def lead(says: str) -> str:
    """Return a sentence of the table without the number or name at its end."""
    return says.rstrip("0123456789 ")


def test_every_policy_is_followed_by_its_binding() -> None:
    rendered = render(Scope())
    assert [one["kind"] for one in rendered] == [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ] * len(POLICIES)
    for policy, binding in zip(rendered[::2], rendered[1::2], strict=True):
        assert binding["spec"]["policyName"] == policy["metadata"]["name"]


def test_jobs_are_asked_about_only_in_managed_namespaces_and_with_a_queue() -> None:
    of_jobs = [one for one in render(TEAMS) if "jobs" in str(one["spec"].get("matchConstraints"))]
    assert len(of_jobs) == 2
    for policy in of_jobs:
        selector = policy["spec"]["matchConstraints"]["namespaceSelector"]
        assert selector == {"matchExpressions": [{"key": "team", "operator": "Exists"}]}
        assert any("queue-name" in one["expression"] for one in policy["spec"]["matchConditions"])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(one, id=one.name)
        for one in ROWS
        if one.kind == "Job" and one.says and one.old is None
    ],
)
def test_what_a_new_job_is_refused_for_bears_the_name_of_the_group_or_is_its_queue(
    row: Row,
) -> None:
    meta, template = row.new["metadata"], row.new["spec"]["template"].get("metadata", {})
    own = [one for one in meta.get("labels", {}) if one not in NAMES]
    noted = [*meta.get("annotations", {}), *template.get("annotations", {})]
    odd = not re.fullmatch(OBJECT_NAME, meta["labels"][QUEUE])
    assert odd or any(one.startswith(GROUP) for one in (*own, *noted))


def test_nobody_is_asked_about_our_own_writes() -> None:
    ours = "system:serviceaccount:batch-system:kueue-controller-manager"
    for policy in render(TEAMS)[::2]:
        (condition,) = policy["spec"]["matchConditions"]
        first = condition["expression"].partition(" && ")[0]
        assert first == f"(request.userInfo.username != '{ours}')"


def test_nobody_is_asked_about_what_is_being_deleted() -> None:
    for policy in render(TEAMS)[::2]:
        (condition,) = policy["spec"]["matchConditions"]
        assert "&& (!has(object.metadata.deletionTimestamp))" in condition["expression"]
