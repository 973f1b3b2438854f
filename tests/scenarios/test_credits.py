"""With balances that are all zero, decisions are those without a policy, in every scenario."""

from dataclasses import replace
from pathlib import Path

import pytest

from queueing.sim.scenario import load_scenario, run_scenario

CASES = [
    path
    for path in sorted((Path(__file__).parent / "cases").glob("*.yaml"))
    if "kind: CreditPolicy" not in path.read_text()
]
POLICY = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditPolicy
metadata:
  name: default
spec:
  mode: "{mode}"
  hysteresis: "1.25"
  localQueues: "{within}"
  prices: [{{resource: cpu, price: "1"}}, {{resource: memory, price: 1n}}]
"""


@pytest.mark.parametrize(("mode", "within"), [("Off", "Off"), ("Balanced", "Order")])
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_a_policy_whose_balances_are_zero_changes_no_decision(
    path: Path, mode: str, within: str
) -> None:
    scenario = load_scenario(path)
    policy = POLICY.format(mode=mode, within=within)
    with_policy = replace(scenario, manifests=scenario.manifests + policy)
    assert run_scenario(with_policy) == run_scenario(scenario)
