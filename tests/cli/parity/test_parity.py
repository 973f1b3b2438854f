"""A plan of manifests says what a controller makes of the same on an API server.

A case is a YAML file: `about` (one sentence), `manifests` (a block of documents; those of BASE
stand beside them where they name no other) and `want`, which is derived from the rules: of each
Job, or Workload without one, what becomes of it (`none` when a Job gets no Workload); of queues
that are not active, why. Where `want` has only a reason, plan and controller still have to give one
message. And a plan of the cluster that came of it says the same of all who wait.

Most cases share one server and one controller. There each has namespaces and queues of its own:
every name that counts in the whole cluster gets the mark of its case, which is taken off again from
what is told. What concerns the whole cluster has a server of its own.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from queueing.apiserver.server import EmbeddedServer
from queueing.cli.live import read_cluster
from queueing.cli.local.cluster import ServerLocation, alone, controlled, local_cluster
from queueing.core.decisions import Admit, Wait
from queueing.core.settings import Compatibility
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.sim.documents import LIVE, Document, parse
from queueing.sim.intake import Intake, read_world
from queueing.sim.kinds import body, is_known, upgraded
from queueing.sim.plan import until_stable
from queueing_api.config.v1beta2 import Configuration
from queueing_api.quantity import format_amount

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
OF_THE_WHOLE_CLUSTER = (
    "kind: Configuration",
    "kind: PriorityClass",
    "namespace: kube-system",
    "name: default, namespace",
)
"""What concerns namespaces that cannot have another name, or all of them."""
ALONE = [path for path in CASES if any(one in path.read_text() for one in OF_THE_WHOLE_CLUSTER)]
TOGETHER = [path for path in CASES if path not in ALONE]
NAMED_IN_THE_CLUSTER = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "Namespace",
        "ResourceFlavor",
        "RuntimeClass",
        "WorkloadPriorityClass",
    }
)
BASE = (Path(__file__).parent / "base.yaml").read_text()
NONE = "none"
NOT_JUDGED = {
    "status": "False",
    "reason": "PendingEvaluation",
    "message": "Waiting for its turn in the queue",
}
"""What a status without the condition means; a plan says it."""
WAIT_S = 90.0
REST_S = 0.4
"""How long nothing may change after all is as wanted."""
Told = dict[str, str]
"""Namespace/name of a Job or Workload, or `ClusterQueue NAME` → what becomes of it."""
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case beside others, whose names carry its mark."""

    name: str
    want: Told
    manifests: str
    mark: str = ""

    @classmethod
    def of(cls, path: Path, mark: str = "") -> "Case":
        found = yaml.safe_load(path.read_text())
        return cls(name=path.stem, want=found["want"], manifests=found["manifests"], mark=mark)

    def documents(self) -> list[Document]:
        """Return the objects of the case, marked."""
        found = given(self.manifests)
        names = {one.name for one in found if one.kind in NAMED_IN_THE_CLUSTER}
        names |= {str(one.value["metadata"].get("namespace", "")) for one in found}
        return [replace(one, value=marked(one.value, names - {""}, self.mark)) for one in found]

    def of_all(self, told: Told) -> Told:
        """Return what is told of the objects of this case, by their names, without the mark."""
        return {
            key.removesuffix(self.mark)
            if key.startswith("ClusterQueue ")
            else key.partition("/")[2]: said.replace(self.mark, "")
            for key, said in told.items()
            if (key if key.startswith("ClusterQueue ") else key.partition("/")[0]).endswith(
                self.mark
            )
        }


def marked(value: Any, names: set[str], mark: str) -> Any:
    """Put the mark behind every text that is one of the names."""
    if isinstance(value, dict):
        return {key: marked(one, names, mark) for key, one in value.items()}
    if isinstance(value, list):
        return [marked(one, names, mark) for one in value]
    return value + mark if value in names else value


def given(manifests: str) -> list[Document]:
    written = parse(manifests, file="case")
    names = {one.title for one in written}
    beside = [one for one in parse(BASE, file="base") if one.title not in names]
    for one in (*beside, *written):
        if one.kind == "Job":
            annotations = one.value["metadata"].setdefault("annotations", {})
            annotations.setdefault("queueing.dev/simulate-seconds", "600")
    return [*beside, *written]


def intake(documents: list[Document], configuration: Configuration | None = None) -> Intake:
    return read_world(
        documents,
        now=time.time(),
        compatibility=Compatibility.QUEUEING,
        configuration=configuration,
    )


def key_of(metadata: Mapping[str, Any]) -> str:
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"


def owner_or_self(metadata: Mapping[str, Any]) -> str:
    owners = [one["name"] for one in metadata.get("ownerReferences", ()) if one["kind"] == "Job"]
    return key_of({**metadata, "name": owners[0]} if len(owners) == 1 else metadata)


def job_of(workload: str) -> str:
    """Return the Job whose Workload a plan made, by its name: `job-NAME-digest`."""
    namespace, _, name = workload.partition("/")
    return f"{namespace}/{name.removeprefix('job-').rpartition('-')[0]}"


def planned(found: Intake, documents: list[Document]) -> Told:
    """Return what a plan says of all who wait, or are let in by it."""
    plan = until_stable(found.facts, settings=found.settings, now=time.time())
    told = {key_of(one.value["metadata"]): NONE for one in documents if one.kind == "Job"}
    names = {
        key_of(one.value["metadata"]): owner_or_self(one.value["metadata"])
        for one in documents
        if one.kind == "Workload"
    }
    for decision in (one for decisions in plan.rounds for one in decisions):
        name = names.get(decision.workload) or job_of(decision.workload)
        if isinstance(decision, Admit):
            sets = "; ".join(
                f"{one.name} x{one.count}"
                + "".join(
                    f" {resource}={flavor}:{format_amount(resource, one.usage[resource])}"
                    for resource, flavor in sorted(one.flavors.items())
                )
                for one in decision.pod_sets
            )
            told[name] = ("Reserved " if decision.checks else "Admitted ") + sets
        elif isinstance(decision, Wait):
            told[name] = f"{decision.reason}: {decision.message}"
    for warning in found.warnings:
        start, _, why = warning.partition(" is inactive: ")
        if why:
            told[start] = why
    return told


def of_status(workload: Wire) -> str:
    """Return what a controller wrote into the status of a Workload."""
    status = workload.get("status", {})
    conditions = {one["type"]: one for one in status.get("conditions", ())}
    reserved = conditions.get("QuotaReserved", NOT_JUDGED)
    if reserved["status"] != "True":
        return f"{reserved['reason']}: {reserved['message']}"
    admitted = conditions.get("Admitted", {}).get("status") == "True"
    sets = "; ".join(
        f"{one['name']} x{one['count']}"
        + "".join(
            f" {resource}={flavor}:{one['resourceUsage'][resource]}"
            for resource, flavor in sorted(one["flavors"].items())
        )
        for one in status["admission"]["podSetAssignments"]
    )
    return ("Admitted " if admitted else "Reserved ") + sets


async def listed(client: Client, kind: str) -> list[Wire]:
    reply = await client.list_page(resources.RESOURCES[kind].within())
    return list(json.loads(reply)["items"])


async def observed(client: Client) -> Told:
    """Return what the controller has made of all Jobs and Workloads, and of queues."""
    told = {key_of(one["metadata"]): NONE for one in await listed(client, "Job")}
    for one in await listed(client, "Workload"):
        told[owner_or_self(one["metadata"])] = of_status(one)
    for one in await listed(client, "ClusterQueue"):
        for condition in one.get("status", {}).get("conditions", ()):
            if condition["type"] == "Active" and condition["status"] == "False":
                told[f"ClusterQueue {one['metadata']['name']}"] = condition["message"]
    return told


def agrees(told: Told, want: Told) -> bool:
    return all(
        told.get(name, NONE) == said or (":" not in said and told.get(name, "").startswith(said))
        for name, said in want.items()
    )


async def controlled_outcome(cases: Sequence[Case]) -> tuple[Told, Told]:
    """Let a controller work on the cases until all is as wanted and stays so, or time is up.

    Returns what it made of them, and what a plan of the cluster says then.
    """
    documents = [one for case in cases for one in case.documents()]
    written = [body(one) for one in documents if one.kind == "Configuration"]
    configuration = alone(Configuration.model_validate(written[0]) if written else None)
    known = [one for one in documents if one.kind != "Configuration" and is_known(one)]
    now = [upgraded(one) for one in known]
    async with (
        local_cluster(ServerLocation(), []) as server,
        Client(Cluster.plain(server.url), "tests") as client,
    ):
        for one in sorted(now, key=lambda one: one.kind != "Namespace"):
            if one.kind != "Job":
                await store(server, client, one)
        async with controlled(server, configuration, Compatibility.QUEUEING):
            uids: dict[str, str] = {}
            for one in now:
                if one.kind == "Job":
                    await create(client, one, uids)
            told = await settled(client, cases)
            live = await asyncio.to_thread(of_cluster, server, configuration)
            return told, live


def of_cluster(server: EmbeddedServer, configuration: Configuration) -> Told:
    with TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        documents = parse(read_cluster(str(kubeconfig), None, every_job=True), file=LIVE)
    return planned(intake(documents, configuration), documents)


async def store(server: EmbeddedServer, client: Client, document: Document) -> None:
    """Store an object as of the time that it names, and its status."""
    writes, metadata = server.api.writes, dict(document.value["metadata"])
    clock, created = writes.clock, metadata.get("creationTimestamp")
    if created:
        moment = datetime.fromisoformat(created).timestamp()
        writes.clock = lambda: moment
    metadata.pop("resourceVersion", None)
    try:
        server.load([{**document.value, "metadata": metadata}])
    finally:
        writes.clock = clock
    if "status" in document.value:
        place = resources.RESOURCES[document.kind].at(
            document.name, metadata.get("namespace", ""), "status"
        )
        await client.patch_merge(place, {"status": document.value["status"]})


async def create(client: Client, job: Document, uids: dict[str, str]) -> None:
    """Create a Job; those that it refers to have got their uids before."""
    metadata = job.value["metadata"]
    for owner in metadata.get("ownerReferences", ()):
        owner["uid"] = uids.get(key_of({**metadata, "name": owner["name"]}), owner["uid"])
    place = resources.RESOURCES["Job"].within(metadata.get("namespace", "default"))
    made = json.loads(await client.create(place, job.value))
    uids[key_of(metadata)] = made["metadata"]["uid"]


async def settled(client: Client, cases: Sequence[Case]) -> Told:
    ends, since = time.monotonic() + WAIT_S, None
    told: Told = {}
    while time.monotonic() < ends:
        before, told = told, await observed(client)
        if told != before or not all(agrees(one.of_all(told), one.want) for one in cases):
            since = None
        elif since is None:
            since = time.monotonic()
        elif time.monotonic() - since > REST_S:
            return told
        await asyncio.sleep(0.1)
    return told


def disagreements(case: Case, told: Told, live: Told) -> list[str]:
    """Return where plan, controller and the plan of its cluster tell different things."""
    documents = given(case.manifests)
    plan = Case(name=case.name, want=case.want, manifests="").of_all(
        planned(intake(documents), documents)
    )
    told, live = case.of_all(told), case.of_all(live)
    if not agrees(plan, case.want):
        return [f"{case.name}: a plan says {plan}"]
    found = []
    for name in case.want:
        planned_of, told_of = plan.get(name, NONE), told.get(name, NONE)
        if told_of != planned_of:
            found.append(f"{case.name}: {name}: planned {planned_of!r}, but came to {told_of!r}")
        waits = ":" in planned_of and not planned_of.startswith(("Admitted", "Reserved"))
        if waits and name in told and live.get(name) != planned_of:
            found.append(f"{case.name}: {name}: planned {planned_of!r}, live {live.get(name)!r}")
    return found


async def test_plans_and_the_controller_agree() -> None:
    cases = [Case.of(path, mark=f"-case{number}x") for number, path in enumerate(TOGETHER)]
    async with asyncio.timeout(240):
        told, live = await controlled_outcome(cases)
    found = [one for case in cases for one in disagreements(case, told, live)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", [pytest.param(one, id=one.stem) for one in ALONE])
async def test_a_plan_and_the_controller_agree_on_a_whole_cluster(path: Path) -> None:
    case = Case.of(path)
    async with asyncio.timeout(240):
        told, live = await controlled_outcome([case])
    found = disagreements(case, told, live)
    assert not found, "\n".join(found)
