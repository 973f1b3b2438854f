"""What programs rely on in `queueing plan -o json`, held against plans of random worlds."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import CliRunner

from queueing.cli.main import cli

KUEUE = "kueue.x-k8s.io/v1beta2"
ROUNDS = 2
SEEDS = range(16)

Json = dict[str, Any]

KEYS = {
    "Admit": ["borrowing", "reservedOnly", "podSetAssignments"],
    "Preempt": ["preemptor", "reason", "alreadyEvicted"],
    "Wait": ["requeue", "reason", "message", "mode", "podSetAssignments", "targets"],
}
REQUEUES = {"Immediate", "Inadmissible", "NotHead", "NotQueued"}
MODES = {"NoFit", "NoCandidates", "Preempt", "DeferredFit", "Skipped"}


@dataclass(frozen=True, slots=True)
class Case:
    """A world, and what came of its workloads in two rounds."""

    given: tuple[Json, ...]
    report: Json

    def of(self, kind: str) -> dict[str, Json]:
        """Return the given objects of a kind by name, those of Workloads with the namespace."""
        prefix = "team/" if kind == "Workload" else ""
        return {prefix + one["metadata"]["name"]: one for one in self.given if one["kind"] == kind}

    def decisions(self, action: str = "") -> Iterator[Json]:
        """Give the decisions of all rounds in turn."""
        for one in self.report["rounds"]:
            yield from (d for d in one["decisions"] if action in ("", d["action"]))


def thing(kind: str, name: str, spec: Json, **more: Any) -> Json:
    home = {"namespace": "team"} if kind in ("LocalQueue", "Workload") else {}
    metadata = {"name": name, "creationTimestamp": None, **home}
    return {"apiVersion": KUEUE, "kind": kind, "metadata": metadata, "spec": spec, **more}


def condition(kind: str) -> Json:
    when = "2025-12-31T00:00:00Z"
    return {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": when}


def cluster_queue(name: str, chance: random.Random) -> Json:
    flavors = [
        {"name": one, "resources": [{"name": "cpu", "nominalQuota": chance.randint(1, 4)}]}
        for one in ("one", "two")
    ]
    never = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
    always = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    spec = {
        "cohortName": chance.choice(["x", "x", "y", ""]),
        "namespaceSelector": {},
        "queueingStrategy": chance.choice(["BestEffortFIFO", "StrictFIFO"]),
        "preemption": chance.choice([never, always, always]),
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
    }
    if chance.random() < 0.3:
        checks = [{"name": "check", "onFlavors": ["two"]}]
        spec["admissionChecksStrategy"] = {"admissionChecks": checks}
    return thing("ClusterQueue", name, spec)


def workload(name: str, queue: str, chance: random.Random) -> Json:
    requests = {"cpu": chance.choice([1, "2", "1500m"])}
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    pod_set = {"name": "main", "count": chance.randint(1, 3), "template": template}
    priority = chance.randint(-1, 1)
    active = chance.random() < 0.9
    spec = {"queueName": queue, "podSets": [pod_set], "priority": priority, "active": active}
    return thing("Workload", name, spec)


def holding(name: str, queue: str, chance: random.Random) -> Json:
    count, flavor = chance.randint(1, 3), chance.choice(["one", "two"])
    found = workload(name, queue, chance)
    found["spec"]["podSets"][0]["count"] = count
    found["spec"]["priority"] = -chance.randint(1, 2)
    held = {"name": "main", "count": count, "flavors": {"cpu": flavor}}
    assignments = [{**held, "resourceUsage": {"cpu": f"{count}"}}]
    conditions = [condition("QuotaReserved"), condition("Admitted")]
    conditions += [condition("Evicted")] if chance.random() < 0.2 else []
    admission = {"clusterQueue": queue, "podSetAssignments": assignments}
    return found | {"status": {"admission": admission, "conditions": conditions}}


def world(seed: int) -> tuple[Json, ...]:
    chance = random.Random(seed)
    queues = [f"q{number}" for number in range(chance.randint(1, 4))]
    check = {"status": {"conditions": [condition("Active")]}}
    return (
        *(thing("ResourceFlavor", name, {}) for name in ("one", "two")),
        thing("AdmissionCheck", "check", {"controllerName": "team.example/check"}, **check),
        *(cluster_queue(name, chance) for name in queues),
        *(thing("LocalQueue", name, {"clusterQueue": name}) for name in queues),
        *(holding(f"r{n}", chance.choice(queues), chance) for n in range(chance.randint(2, 8))),
        *(workload(f"w{n}", chance.choice(queues), chance) for n in range(chance.randint(1, 8))),
    )


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    found = []
    for given in map(world, SEEDS):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": given})
        arguments = ["plan", "-f", "-", "--rounds", f"{ROUNDS}", "-o", "json"]
        arguments += ["--now", "2026-01-01T00:00:00Z"]
        result = CliRunner().invoke(cli, arguments, input=text)
        assert result.exit_code == 0, result.stderr
        found.append(Case(given, json.loads(result.stdout)))
    return found


def milli(text: str | int) -> int:
    return int(text[:-1]) if isinstance(text, str) and text.endswith("m") else 1_000 * int(text)


def holders(case: Case) -> set[str]:
    return {name for name, one in case.of("Workload").items() if "status" in one}


def test_rounds_count_from_one_and_are_as_many_as_asked_for(cases: list[Case]) -> None:
    for case in cases:
        assert list(case.report) == ["rounds", "usage", "cohorts", "weightedShare"]
        assert [one["round"] for one in case.report["rounds"]] == [1, 2]


def test_each_action_has_its_keys(cases: list[Case]) -> None:
    seen = Counter(decision["action"] for case in cases for decision in case.decisions())
    assert seen.keys() == KEYS.keys()
    for case in cases:
        for decision in case.decisions():
            common = ["workload", "action", "clusterQueue"]
            assert list(decision) == common + KEYS[decision["action"]]


def test_each_who_is_pending_is_told_of_once_a_round(cases: list[Case]) -> None:
    for case in cases:
        pending = case.of("Workload").keys() - holders(case)
        for one in case.report["rounds"]:
            judged = [d for d in one["decisions"] if d["action"] != "Preempt"]
            assert sorted(d["workload"] for d in judged) == sorted(pending)
            pending -= {d["workload"] for d in judged if d["action"] == "Admit"}


def test_who_waits_says_what_for(cases: list[Case]) -> None:
    for case in cases:
        for wait in case.decisions("Wait"):
            assert wait["requeue"] in REQUEUES
            assert wait["mode"] in MODES | {None}
            assert wait["reason"]
            assert wait["message"]
            if wait["requeue"] in ("NotHead", "NotQueued"):
                assert (wait["mode"], wait["targets"]) == (None, [])


def test_whoever_preempts_waits_for_exactly_its_victims(cases: list[Case]) -> None:
    for case in cases:
        for one in case.report["rounds"]:
            victims: dict[str, list[str]] = {}
            for decision in one["decisions"]:
                if decision["action"] == "Preempt":
                    victims.setdefault(decision["preemptor"], []).append(decision["workload"])
            targets = {
                d["workload"]: d["targets"] for d in one["decisions"] if d.get("mode") == "Preempt"
            }
            assert targets == victims


def test_a_victim_that_was_on_its_way_out_is_told_as_such(cases: list[Case]) -> None:
    for case in cases:
        leaving = {
            name
            for name, one in case.of("Workload").items()
            if any(c["type"] == "Evicted" for c in one.get("status", {}).get("conditions", []))
        }
        for one in case.report["rounds"]:
            victims = [d for d in one["decisions"] if d["action"] == "Preempt"]
            for decision in victims:
                assert decision["alreadyEvicted"] == (decision["workload"] in leaving)
            leaving |= {decision["workload"] for decision in victims}


def test_only_reserved_is_where_a_check_applies_to_the_flavor(cases: list[Case]) -> None:
    seen = set()
    for case in cases:
        for admit in case.decisions("Admit"):
            queue = case.of("ClusterQueue")[admit["clusterQueue"]]["spec"]
            flavors = {one["flavors"]["cpu"] for one in admit["podSetAssignments"]}
            checked = "admissionChecksStrategy" in queue and "two" in flavors
            assert admit["reservedOnly"] == checked
            seen.add(checked)
    assert seen == {True, False}


def test_usage_is_what_was_held_and_was_admitted_victims_included(cases: list[Case]) -> None:
    for case in cases:
        held = Counter[tuple[str, str]]()
        for name in holders(case):
            admission = case.of("Workload")[name]["status"]["admission"]
            for one in admission["podSetAssignments"]:
                place = admission["clusterQueue"], one["flavors"]["cpu"]
                held[place] += milli(one["resourceUsage"]["cpu"])
        for admit in case.decisions("Admit"):
            for one in admit["podSetAssignments"]:
                place = admit["clusterQueue"], one["flavors"]["cpu"]
                held[place] += milli(one["resourceUsage"]["cpu"])
        for queue, spec in case.of("ClusterQueue").items():
            for flavor in ("one", "two"):
                told = case.report["usage"][queue][flavor]["cpu"]
                assert milli(told["used"]) == held[queue, flavor]
                beyond = max(0, held[queue, flavor] - milli(told["nominal"]))
                assert milli(told["borrowed"]) == (beyond if spec["spec"]["cohortName"] else 0)


def test_names_stand_in_order(cases: list[Case]) -> None:
    for case in cases:
        shares = case.report["weightedShare"]
        for part in (case.report["usage"], case.report["cohorts"], *shares.values()):
            assert list(part) == sorted(part)
        cohorts = {one["spec"]["cohortName"] for one in case.of("ClusterQueue").values()} - {""}
        assert case.report["cohorts"].keys() == shares["cohorts"].keys() == cohorts
