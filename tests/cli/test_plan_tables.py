"""What `queueing plan --live -f` shows of a change."""

import pytest

from queueing.cli.plan_places import PlanPlaces
from queueing.cli.plan_tables import difference
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable
from queueing.sim.report import as_json
from tests.cli.manifests import BREAK, FLAVOR, cluster_queue, local_queue

NOW = 1_767_225_700.0
SINCE = "2026-01-01T00:00:00Z"
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: QUOTA}]}]
"""
WORLD = BREAK.join((FLAVOR, cluster_queue("other", 1), local_queue("a", "a")))
PENDING = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: NAME, namespace: team}
spec:
  queueName: a
  priority: PRIORITY
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{name: c, image: i, resources: {requests: {cpu: CPU}}}]
"""
RUNNING = (
    PENDING
    + """\
status:
  conditions:
  - {type: QuotaReserved, status: "True", reason: R, message: "", lastTransitionTime: SINCE}
  - {type: Admitted, status: "True", reason: R, message: "", lastTransitionTime: SINCE}
  admission:
    clusterQueue: a
    podSetAssignments: [{name: main, count: 1, flavors: {cpu: default}, resourceUsage: {cpu: CPU}}]
""".replace("SINCE", f'"{SINCE}"')
)


def one(text: str, name: str, cpu: int, priority: int = 0) -> str:
    return text.replace("NAME", name).replace("CPU", str(cpu)).replace("PRIORITY", str(priority))


def changes(before: list[str], after: list[str], quota: tuple[int, int] = (2, 2)) -> list[str]:
    """Return the lines that tell how two worlds differ, their columns separated by one blank."""
    reports = []
    for documents, nominal in zip((before, after), quota, strict=True):
        text = "---\n".join([WORLD, QUEUE.replace("QUOTA", str(nominal)), *documents])
        world = read_world(
            parse(text, file="f.yaml"), now=NOW, compatibility=Compatibility.QUEUEING
        )
        reports.append(as_json(until_stable(world.facts, settings=world.settings, now=NOW)))
    return [
        " ".join(line.split())
        for line in difference(*reports, places=PlanPlaces()).splitlines()
        if line
    ]


WAITS = one(PENDING, "waits", 3)
RUNS = one(RUNNING, "runs", 2)


def test_a_change_that_changes_nothing_is_told_in_one_line() -> None:
    (told,) = changes([WAITS], [WAITS])
    assert told == (
        "The change makes no difference: 1 pending workload and 2 quota lines stay as they are"
        " (--all shows them)."
    )


def test_who_would_be_admitted_is_told_with_what_it_waits_for_without_the_change() -> None:
    lacks = (
        "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor default,"
        " previously considered podsets requests (0) + current podset request (3)"
        " > maximum capacity (2)"
    )
    end = (
        "- without the change, + with it. 0 pending workloads and 1 quota line stay as they are"
        " (--all shows them)."
    )
    assert changes([WAITS], [WAITS], quota=(2, 4)) == [
        "CHANGE ACTION WORKLOAD CLUSTERQUEUE DETAIL",
        f"- Wait team/waits a ExceedsMaxQuota: {lacks}",
        "+ Admit team/waits a main x1: cpu 3 of default",
        "CHANGE CLUSTERQUEUE FLAVOR RESOURCE NOMINAL USED BORROWED LENT",
        "- a default cpu 2 0 0 0",
        "+ a default cpu 4 3 0 0",
        end,
    ]


def test_victims_of_a_new_workload_are_told_and_those_who_wait_as_before_are_not() -> None:
    urgent = one(PENDING, "urgent", 2, priority=9)
    lines = changes([RUNS, WAITS], [RUNS, WAITS, urgent])
    assert "+ Preempt team/runs a for team/urgent: InClusterQueue" in lines
    assert "+ Admit team/urgent a main x1: cpu 2 of default" in lines
    assert not any("team/waits" in line for line in lines)
    assert "with it. 1 pending workload and 2 quota lines stay as they are" in lines[-1]


def test_the_same_decision_with_another_message_is_told_in_one_row() -> None:
    lines = changes([one(PENDING, "w", 9)], [one(PENDING, "w", 9)], quota=(2, 4))
    (row,) = [line for line in lines if "team/w" in line]
    assert row.startswith("~ Wait team/w a ExceedsMaxQuota: ")
    assert row.endswith("> maximum capacity (4)")
    assert "~ the same with another message" in lines[-1]


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        pytest.param([], [WAITS], "+", id="one that is new"),
        pytest.param([WAITS], [], "-", id="one that is gone"),
    ],
)
def test_a_workload_of_one_side_only_is_told(
    before: list[str], after: list[str], mark: str
) -> None:
    lines = changes(before, after)
    assert [line[:7] for line in lines if "team/waits" in line] == [f"{mark} Wait "]
    assert "with it. 0 pending workloads and 2 quota lines stay as they are" in lines[-1]


def test_a_queue_of_one_side_only_has_its_quota_told() -> None:
    added = QUEUE.replace("name: a}", "name: new}").replace("QUOTA", "7")
    lines = changes([], [added])
    assert "+ new default cpu 7 0 0 0" in lines
    assert "The change makes no difference to workloads." in lines


def test_a_cohort_whose_own_quota_changes_is_told() -> None:
    cohort = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: all}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: QUOTA}]}]
"""
    lines = changes([cohort.replace("QUOTA", "1")], [cohort.replace("QUOTA", "5")])
    assert "CHANGE COHORT FLAVOR RESOURCE NOMINAL USED BORROWED LENT" in lines
    assert "- all default cpu 1 0 0 0" in lines
    assert "+ all default cpu 5 0 0 0" in lines
