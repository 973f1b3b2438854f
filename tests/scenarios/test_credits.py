"""With balances that are all zero, decisions are those without a policy.

What comes of a scenario without a policy is what its file wants, so that is compared.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.scenarios.scenario import CASES, load_scenario, run_scenario

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
WITHOUT = [path for path in CASES if "creditPolicies:" not in path.read_text()]
EACH = 12
MODES = pytest.mark.parametrize(("mode", "within"), [("Off", "Off"), ("Balanced", "Order")])


def check(path: Path, mode: str, within: str) -> None:
    scenario = load_scenario(path)
    policy = POLICY.format(mode=mode, within=within)
    with_policy = replace(scenario, manifests=scenario.manifests + policy)
    assert run_scenario(with_policy) == scenario.want, path.name


@MODES
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in WITHOUT[::EACH]])
def test_a_policy_whose_balances_are_zero_changes_no_decision(
    path: Path, mode: str, within: str
) -> None:
    check(path, mode, within)


@pytest.mark.slow
@MODES
def test_it_changes_none_in_any_scenario(mode: str, within: str) -> None:
    for path in WITHOUT:
        check(path, mode, within)
