"""Scenarios: objects in, decisions and reasons out, one per file.

A scenario is a YAML file; `README.md` beside this module says what is in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from queueing.core.decisions import Admit, Decision, Place, Preempt, Strand, Wait
from queueing.core.facts import PodSetAssignment
from queueing.core.settings import Compatibility
from queueing.core.topology.assignment import Assignment as Placement
from queueing.sim.documents import Document, parse
from queueing.sim.intake import read_world
from queueing.sim.plan import Plan, fixed_rounds, until_stable
from queueing.sim.report import reason_of
from queueing.sim.yaml_text import ManifestError, read
from queueing_api.quantity import format_amount
from tests.scenarios.lines import NOW
from tests.scenarios.short_form import SECTIONS, expand

CASES = tuple(sorted((Path(__file__).parent / "cases").glob("*.yaml")))
STABLE = "stable"
KNOWN = {"about", "rounds", "compatibility", *SECTIONS, "manifests", "want"}
_WANT = "want:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One file: what is given, and what must come of it."""

    path: Path
    page: Document
    """The file as it is written."""
    rounds: int | None
    """None runs until nothing changes."""
    compatibility: Compatibility
    manifests: str
    """The objects that are given in full, on the lines that they have in the file."""
    want: Any

    def documents(self) -> list[Document]:
        """Make all objects anew. Raises ManifestError for what cannot be read."""
        full = parse(self.manifests, file=self.path.name)
        return [*expand(self.page, full), *full]


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ManifestError, naming its line, for what it does not know."""
    value, node = next(read(path.read_text(encoding="utf-8"), file=path.name))
    page = Document(file=path.name, value=value, node=node)
    for part in value:
        if part not in KNOWN:
            raise page.error((part,), f"unknown part; there are {', '.join(sorted(KNOWN))}")
    rounds = value.get("rounds", 1)
    return Scenario(
        path=path,
        page=page,
        rounds=None if rounds == STABLE else int(rounds),
        compatibility=Compatibility(value.get("compatibility", Compatibility.KUEUE)),
        manifests="\n" * page.line_at(("manifests",)) + value.get("manifests", ""),
        want=value.get("want"),
    )


def run_scenario(scenario: Scenario) -> dict[str, Any]:
    """Return what came of it, in the form of `want`."""
    try:
        world = read_world(scenario.documents(), now=NOW, compatibility=scenario.compatibility)
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
            parts = [_assignment(decision.pod_sets)]
            parts += ["borrowing"] if decision.borrowing else []
            parts += ["reserved only"] if decision.checks else []
            parts += [f"but {one}" for one in decision.warnings]
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

        case Place():
            left = f", leaving {' '.join(decision.left)}" if decision.left else ""
            where = f"{decision.workload} in {decision.cluster_queue}{left}"
            return f"Place {where}: {_assignment(decision.pod_sets)}"
        case Strand():
            evicts = ", evicted" if decision.evicts else ""
            where = f"{decision.workload} in {decision.cluster_queue}{evicts}"
            return f"Strand {where}: {decision.message}"


def _assignment(pod_sets: Iterable[PodSetAssignment]) -> str:
    return "; ".join(
        f"{one.name} x{one.count}"
        + "".join(
            f" {resource}={one.flavors[resource]}:{format_amount(resource, one.usage[resource])}"
            for resource in sorted(one.flavors)
        )
        + _places(one.placement)
        + (" later" if one.delayed else "")
        for one in pod_sets
    )


def _places(placement: Placement | None) -> str:
    if placement is None:
        return ""
    return " on " + " ".join(f"{'/'.join(one.values)}*{one.count}" for one in placement.domains)


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
