"""Scenarios: manifests in, decisions and reasons out, one per file.

A scenario is a YAML file: `about` (one sentence), `rounds` (a number, or `stable`), `manifests` (a
block of YAML documents, a Configuration among them if the case needs one), and `want`, the last
key: the lines of each round, or the one line that refuses the input. A comment on top derives the
wanted lines from the rules.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from queueing.core.decisions import Admit, Decision, Preempt, Wait
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import read_world
from queueing.sim.plan import Plan, fixed_rounds, until_stable
from queueing.sim.report import reason_of
from queueing.sim.yaml_text import ManifestError
from queueing_api.quantity import format_amount

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z: the time at which every scenario stands."""

STABLE = "stable"
_WANT = "want:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One file: what is given, and what must come of it."""

    path: Path
    rounds: int | None
    """None runs until nothing changes."""
    compatibility: Compatibility
    manifests: str
    want: Any


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises KeyError when a part is missing."""
    found = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    rounds = found["rounds"]
    return Scenario(
        path=path,
        rounds=None if rounds == STABLE else int(rounds),
        compatibility=Compatibility(found.get("compatibility", Compatibility.KUEUE)),
        manifests=found["manifests"],
        want=found.get("want"),
    )


def run_scenario(scenario: Scenario) -> dict[str, Any]:
    """Return what came of it, in the form of `want`."""
    try:
        world = read_world(
            parse(scenario.manifests, file=scenario.path.name),
            now=NOW,
            compatibility=scenario.compatibility,
        )
    except ManifestError as error:
        return {"error": str(error)}
    if scenario.rounds is None:
        plan = until_stable(world.facts, settings=world.settings, now=NOW)
    else:
        plan = fixed_rounds(world.facts, settings=world.settings, now=NOW, rounds=scenario.rounds)
    outcome: dict[str, Any] = {
        "rounds": [
            [line(one, explicit=plan.explicit_reasons) for one in decisions]
            for decisions in plan.rounds
        ],
        "usage": usage_lines(plan),
    }
    if world.warnings:
        outcome["warnings"] = list(world.warnings)
    return outcome


def rewrite(scenario: Scenario, outcome: dict[str, Any]) -> None:
    """Replace what the file wants by what came of it; all above stays as it is."""
    text = scenario.path.read_text(encoding="utf-8")
    above = text[: text.index(f"\n{_WANT}") + 1]
    want = yaml.dump(
        {"want": outcome}, Dumper=yaml.CSafeDumper, sort_keys=False, width=1_000, allow_unicode=True
    )
    scenario.path.write_text(above + want, encoding="utf-8")


def line(decision: Decision, *, explicit: bool = True) -> str:
    """Spell a decision as one line."""
    match decision:
        case Admit():
            parts = [_assignment(decision)]
            parts += ["borrowing"] if decision.borrowing else []
            parts += ["reserved only"] if decision.checks else []
            return f"Admit {decision.workload} in {decision.cluster_queue}: {', '.join(parts)}"
        case Preempt():
            evicted = ", already evicted" if decision.already_evicted else ""
            return (
                f"Preempt {decision.workload} in {decision.cluster_queue}"
                f" for {decision.preemptor}: {decision.reason}{evicted}"
            )
        case Wait():
            mode = f", {decision.mode}" if decision.mode else ""
            where = decision.cluster_queue or "no queue"
            return (
                f"Wait {decision.workload} in {where}:"
                f" {decision.requeue}{mode}, {reason_of(decision, explicit=explicit)}:"
                f" {decision.message}"
            )


def _assignment(decision: Admit) -> str:
    return "; ".join(
        f"{one.name} x{one.count}"
        + "".join(
            f" {resource}={one.flavors[resource]}:{format_amount(resource, one.usage[resource])}"
            for resource in sorted(one.flavors)
        )
        for one in decision.pod_sets
    )


def usage_lines(plan: Plan) -> list[str]:
    """Spell the quota held at the end: `queue flavor resource used/nominal, borrowed b, lent l`."""
    return [
        f"{name} {flavor} {resource} {format_amount(resource, one.used)}"
        f"/{format_amount(resource, one.nominal)}"
        + (f", borrowed {format_amount(resource, one.borrowed)}" if one.borrowed else "")
        + (f", lent {format_amount(resource, one.lent)}" if one.lent else "")
        for name, node in sorted(plan.ledger.queues.items())
        for (flavor, resource), one in sorted(node.items())
    ]
