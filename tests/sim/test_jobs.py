"""Which Jobs of files and of clusters get a Workload in a plan, and what changed ones do to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from queueing.core.facts import WorkloadFact
from queueing.core.selectors import Selector
from queueing.core.settings import Compatibility
from queueing.kinds.managed import JobRules
from queueing.sim.documents import LIVE, Document, parse
from queueing.sim.intake import Intake, read_world
from queueing.sim.jobs import GivenJob, JobReader, Ownership
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.composition import PriorityClasses
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.kinds.rows import ROWS, sample

NOW = 1_767_225_600.0
Wire = dict[str, Any]
TEMPLATE: Wire = {
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
}
WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: mine
  namespace: team
  uid: w
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: j, controller: true}]
spec:
  queueName: slow
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
"""
HELD = """\
status:
  admission:
    clusterQueue: cq
    podSetAssignments: [{name: main, count: 1, flavors: {cpu: any}, resourceUsage: {cpu: 1}}]
  conditions:
  - type: QuotaReserved
    status: "True"
    reason: R
    message: ""
    lastTransitionTime: "2025-12-31T00:00:00Z"
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: fast}}
spec:
  parallelism: 3
  template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
"""


def world(*documents: Document) -> Intake:
    return read_world(documents, now=NOW, compatibility=Compatibility.QUEUEING)


def workloads(found: Intake) -> dict[str, WorkloadFact]:
    return {str(one.key): one for one in found.facts if isinstance(one, WorkloadFact)}


def job(name: str, owner: Wire | None = None, **labels: str) -> Wire:
    above = {"apiVersion": "batch/v1", "kind": "Job", "uid": "", "controller": True}
    metadata = {"name": name, "namespace": "team", "uid": f"team/{name}", "labels": labels}
    return {
        "metadata": {**metadata, "ownerReferences": [above | owner] if owner else []},
        "spec": {"template": TEMPLATE, "suspend": True},
    }


def reader(*jobs: Wire, live: bool = False, without_queue: bool = False) -> JobReader:
    return JobReader(
        classes=PriorityClasses(),
        rules=JobRules(namespaces=Selector(), without_queue_name=without_queue),
        labels_of=lambda _: {},
        jobs=[GivenJob(job=batch_job(one), live=live, runs=False) for one in jobs],
        known=[],
    )


QUEUED = {"kueue.x-k8s.io/queue-name": "q"}


def test_a_job_of_a_file_changes_its_workload_that_waits() -> None:
    live, changed = parse(WORKLOAD, file=LIVE), parse(JOB, file="new.yaml")
    found = workloads(world(*live, *changed))
    assert list(found) == ["team/mine"]
    assert (found["team/mine"].local_queue, found["team/mine"].pod_sets[0].count) == (
        "team/fast",
        3,
    )


def test_a_job_that_its_cluster_holds_changes_nothing() -> None:
    found = workloads(world(*parse(WORKLOAD + "---\n" + JOB, file=LIVE)))
    assert found["team/mine"].local_queue == "team/slow"


def test_a_job_that_no_longer_matches_what_holds_quota_is_told() -> None:
    live, changed = parse(WORKLOAD + HELD, file=LIVE), parse(JOB, file="new.yaml")
    found = world(*live, *changed)
    assert workloads(found)["team/mine"].pod_sets[0].count == 1
    (warning,) = [one for one in found.warnings if "Job team/train" in one]
    assert "no longer matches its Workload mine" in warning


@pytest.mark.parametrize(
    ("suspended", "warns"),
    [pytest.param("true", False, id="waiting"), pytest.param("false", True, id="running")],
)
def test_a_job_of_a_cluster_without_a_workload_gets_one(*, suspended: str, warns: bool) -> None:
    text = JOB + f"  suspend: {suspended}\nstatus: {{active: 1}}\n"
    found = world(*parse(text, file=LIVE))
    assert [one.local_queue for one in workloads(found).values()] == ["team/fast"]
    told = [one for one in found.warnings if "runs without a Workload" in one]
    assert bool(told) is warns


@pytest.mark.parametrize(
    ("labels", "warns"),
    [
        pytest.param("", False, id="nothing written"),
        pytest.param("{kueue.x-k8s.io/max-exec-time-seconds: soon}", True, id="a mistake"),
    ],
)
def test_a_rule_is_not_broken_by_a_field_without_a_value(*, labels: str, warns: bool) -> None:
    metadata = f"metadata:\n  name: train\n  namespace: team\n  annotations:\n  labels: {labels}\n"
    text = JOB.replace(JOB.splitlines(keepends=True)[2], metadata)
    found = [one for one in world(*parse(text, file="new.yaml")).warnings if "labels" in one]
    assert bool(found) is warns


def test_what_exists_gets_no_default_any_more() -> None:
    more = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\n"
    text = JOB + "  suspend: true\n" + more + "metadata: {name: default}\nvalue: 7\n"
    (of_cluster,) = workloads(world(*parse(text, file=LIVE))).values()
    (of_file,) = workloads(world(*parse(text, file="new.yaml"))).values()
    assert (of_cluster.priority, of_file.priority) == (0, 7)


def test_a_job_of_one_that_is_not_given_is_planned_and_told() -> None:
    found = reader(job("child", {"name": "parent"}, **QUEUED))
    assert len(found.workloads()) == 1
    assert "belongs to Job parent, which is not given" in found.warnings[0]


def test_a_cluster_tells_of_all_parents_that_matter() -> None:
    found = reader(job("child", {"name": "parent"}, **QUEUED), live=True)
    assert len(found.workloads()) == 1
    assert found.warnings == []


def test_a_cron_job_queues_for_nobody() -> None:
    found = reader(job("nightly", {"name": "night", "kind": "CronJob"}, **QUEUED))
    assert len(found.workloads()) == 1


@pytest.mark.parametrize(
    ("owner", "count"),
    [
        pytest.param({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}, 1, id="another"),
        pytest.param({"apiVersion": "batch/v1", "kind": "CronJob"}, 1, id="a cron job"),
        pytest.param({"apiVersion": "queueing.dev/v1alpha1", "kind": "Checkpoint"}, 0, id="ours"),
    ],
)
def test_a_job_that_an_unknown_kind_controls_is_managed_without_a_queue(
    owner: Wire, count: int
) -> None:
    found = reader(job("step", {"name": "above", **owner}), without_queue=True)
    assert len(found.workloads()) == count


def test_a_kind_that_its_description_gives_several_workloads_is_left_out_as_by_the_controller() -> (
    None
):
    folder = Path(__file__).parents[2] / "examples" / "kinds"
    description = (folder / "description.yaml").read_text()
    several = description.replace("  active:", "  groups: size(object.spec.trials)\n  active:")
    example = (folder / "example.yaml").read_text().replace("running: 2", "running: 0")
    found = world(*parse(several, file="kind.yaml"), *parse(example, file="new.yaml"))
    assert workloads(found) == {}
    assert any("left out: spec.groups: an object has one Workload" in one for one in found.warnings)
    assert len(workloads(world(*parse(description, file="k"), *parse(example, file="n")))) == 1


def test_what_a_wrapped_object_is_not_charged_for_is_told() -> None:
    (row,) = (row for row in ROWS if row.framework == "workload.codeflare.dev/appwrapper")
    thing = sample(row)
    del thing["spec"]["components"][2]["podSets"]
    found = world(*parse(json.dumps(thing), file="new.yaml"))
    told = "no quota for pods of spec.components[2], a Pool of example.com/v1 that declares no"
    assert any(told in one for one in found.warnings)
    assert not any("ConfigMap" in one for one in found.warnings)


def test_who_is_owned_by_too_many_is_left_out() -> None:
    chain = [job("0", None, **QUEUED)]
    chain += [job(str(number), {"name": str(number - 1)}) for number in range(1, 12)]
    found = reader(*chain)
    assert len(found.workloads()) == 1
    assert any("11 is left out: Terminated search" in one for one in found.warnings)


@pytest.mark.parametrize(
    ("reference", "held", "want"),
    [
        pytest.param("p", "p", True, id="the uid that is meant"),
        pytest.param("p", "other", False, id="one of a former life"),
        pytest.param("p", "team/parent", True, id="a Job of a file, without a uid of its own"),
        pytest.param("", "p", True, id="a reference by name"),
    ],
)
def test_names_decide_only_where_uids_are_not_known(
    reference: str, held: str, *, want: bool
) -> None:
    parent = job("parent")
    parent["metadata"]["uid"] = held
    jobs = [parent, job("child", {"name": "parent", "uid": reference})]
    above, child = (GivenJob(job=batch_job(one), live=False, runs=False) for one in jobs)
    assert (Ownership([above, child], []).owner(child) is above) is want


def test_a_workload_is_that_of_the_job_it_names() -> None:
    (document,) = parse(WORKLOAD, file="x")
    mine = read(Workload, document.value)
    given = GivenJob(job=batch_job(job("train")), live=False, runs=False)
    assert Ownership([given], [mine]).workload_of(given) is mine
