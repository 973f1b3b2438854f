"""The table of what is refused and why, against the pure functions."""

from collections import Counter
from collections.abc import Callable

import pytest

from queueing.webhooks.admission import CHECKS as CHECKS_OF_REVIEWS
from queueing.webhooks.admission import Review, Rules
from queueing.webhooks.checkpoints import check_checkpoint, check_checkpoint_policy
from queueing.webhooks.cluster_queues import check_cohort
from queueing.webhooks.credits import (
    check_credit_account,
    check_credit_budget,
    check_credit_grant,
    check_credit_policy,
    check_usage_record,
)
from queueing.webhooks.device_flavors import check_device_flavor
from queueing.webhooks.findings import Finding, Wire, code_of
from queueing.webhooks.flavors import (
    check_admission_check,
    check_flavor,
    check_local_queue,
    check_topology,
)
from queueing.webhooks.jobs import Surroundings, check_job
from queueing.webhooks.workloads import check_workload
from queueing_api.crd.rules import RULES
from tests.webhooks.table import Row, merge_patch, merged, rows


def check_queue(
    new: Wire, old: Wire | None, *, reject_unknown_flavors: bool = False
) -> list[Finding]:
    rules = Rules(reject_unknown_flavors_of_checks=reject_unknown_flavors)
    around = Surroundings()
    operation = "CREATE" if old is None else "UPDATE"
    review = Review(kind="ClusterQueue", operation=operation, new=new, old=old, around=around)
    return CHECKS_OF_REVIEWS["ClusterQueue"](review, rules)


CHECKS: dict[str, Callable[..., list[Finding]]] = {
    "ClusterQueue": check_queue,
    "Cohort": lambda new, _old: check_cohort(new),
    "ResourceFlavor": check_flavor,
    "CheckpointPolicy": lambda new, _old: check_checkpoint_policy(new),
    "Checkpoint": check_checkpoint,
    "CreditPolicy": lambda new, _old: check_credit_policy(new),
    "CreditBudget": check_credit_budget,
    "CreditGrant": check_credit_grant,
    "CreditAccount": check_credit_account,
    "UsageRecord": check_usage_record,
    "DeviceFlavor": lambda new, _old: check_device_flavor(new),
    "Topology": check_topology,
    "LocalQueue": check_local_queue,
    "AdmissionCheck": check_admission_check,
    "Workload": check_workload,
    "Job": check_job,
}


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows()])
def test_what_is_refused_says_why(row: Row) -> None:
    found = CHECKS[row.kind](row.new, row.old, **row.around)
    told = "\n".join(map(str, found))
    if row.says:
        assert row.says in told
        # What the API server refuses natively never gets here.
        assert row.natively or code_of(found) == row.code
    else:
        assert told == ""


def test_the_table_is_large_enough_to_be_called_one() -> None:
    assert len(rows()) >= 120


def test_no_row_stands_twice() -> None:
    counted = Counter(row.id for row in rows())
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows() if row.old])
def test_a_change_can_be_sent_as_a_patch(row: Row) -> None:
    assert merged(row.old, merge_patch(row.old, row.new)) == row.new


@pytest.mark.parametrize("kind", sorted(RULES["v1alpha1"]))
def test_every_rule_of_our_own_definitions_has_a_row(kind: str) -> None:
    said = [row.says for row in rows() if row.kind == kind and row.says]
    without = [
        rule.message
        for rule in RULES["v1alpha1"][kind]
        if not any(one in rule.message or rule.message in one for one in said)
    ]
    assert without == []
