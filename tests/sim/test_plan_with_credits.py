"""A plan goes by credit policies, grants and accounts among its manifests."""

import pytest

from queueing.core.decisions import Preempt, Reason, Wait
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable

NOW = 1_800_000_000.0
QUEUE = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  cohortName: all
  namespaceSelector: {{}}
  preemption: {{reclaimWithinCohort: Any}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: default, resources: [{{name: cpu, nominalQuota: 0}}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: team}}
spec: {{clusterQueue: {name}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: of-{name}, namespace: team, creationTimestamp: "{created}"}}
spec:
  queueName: {name}
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{{name: c, image: i, resources: {{requests: {{cpu: 4}}}}}}]
"""
WORLD = (
    """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
fairSharing:
  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: all}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: queueing.dev/v1alpha1
kind: CreditPolicy
metadata: {name: default}
spec: {prices: [{resource: cpu, price: 1}]}
"""
    + QUEUE.format(name="a", created="2026-01-01T00:00:00Z")
    + QUEUE.format(name="b", created="2026-01-02T00:00:00Z")
)
GRANT = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditGrant
metadata: {name: gift}
spec:
  receiver: {kind: ClusterQueue, name: b}
  amount: 100
  author: ada
  reason: a deadline
"""
ACCOUNT = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditAccount
metadata: {name: all}
spec: {cohortName: all}
status:
  asOf: "2027-01-15T07:59:59Z"
  policy: default
  children:
  - {kind: ClusterQueue, name: a, microCredits: -360000000000, entitlement: 2000000}
  - {kind: ClusterQueue, name: b, microCredits: 360000000000, entitlement: 2000000}
"""


@pytest.mark.parametrize(
    ("more", "first"),
    [
        pytest.param("", "team/of-a", id="without credits who came first"),
        pytest.param(GRANT, "team/of-b", id="a grant"),
        pytest.param(ACCOUNT, "team/of-b", id="a balance"),
    ],
)
def test_who_has_credits_goes_first(more: str, first: str) -> None:
    documents = parse(WORLD + more, file="world.yaml")
    world = read_world(documents, now=NOW, compatibility=Compatibility.QUEUEING)
    plan = until_stable(world.facts, settings=world.settings, now=NOW)
    decided = [one.workload for one in plan.rounds[0] if not isinstance(one, Preempt)]
    assert decided[0] == first
    assert world.warnings == ()


BUDGET = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditBudget
metadata: {name: monthly}
spec:
  holder: {kind: ClusterQueue, name: a}
  grant: 10
  onExhausted: Block
status:
  asOf: "2027-01-15T07:59:59Z"
  periodStart: "2027-01-01T00:00:00Z"
  spentMicroCredits: 35999000000
"""


def test_a_plan_says_which_budget_does_not_cover_a_workload() -> None:
    documents = parse(WORLD + BUDGET, file="world.yaml")
    world = read_world(documents, now=NOW, compatibility=Compatibility.QUEUEING)
    plan = until_stable(world.facts, settings=world.settings, now=NOW)
    [wait] = [one for one in plan.rounds[0] if isinstance(one, Wait)]
    assert (wait.workload, wait.reason) == ("team/of-a", Reason.BUDGET_EXHAUSTED)
    assert "CreditBudget monthly" in wait.message
