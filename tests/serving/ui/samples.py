"""Answers of a leader, and objects, as pages are made of them."""

from typing import Any

from queueing.explain.domain_model import Domain, ResourceFlavorExplanation, Seat
from queueing.explain.model import (
    CohortExplanation,
    Group,
    Line,
    LineRow,
    Place,
    QueueExplanation,
    QuotaRow,
    Remedy,
    TreeNode,
    WorkloadExplanation,
)
from queueing.serving.frames import ALL, FLAVORS, Subject, domain_of

EVIL = "<script>alert(1)</script>"


def row(**changes: str) -> QuotaRow:
    values = {
        "flavor": "default",
        "resource": "cpu",
        "nominal": "10",
        "used": "12",
        "borrowed": "2",
        "lent": "0",
        "promised": "0",
        "available": "0",
    } | changes
    return QuotaRow(borrowing_limit=None, lending_limit=None, **values)


def node(kind: str, name: str, depth: int, parent: str = "") -> TreeNode:
    return TreeNode(
        kind=kind,
        name=name,
        parent=parent,
        depth=depth,
        active=True,
        pending=3,
        holding=2,
        quotas=(row(),),
    )


TREE = CohortExplanation(
    name="", nodes=(node("Cohort", "lab", 0), node("ClusterQueue", "vision", 1, "lab"))
)


def queue(kind: str = "ClusterQueue", namespace: str = "") -> QueueExplanation:
    group = Group(reason="WaitingForQuota", message=EVIL, count=2, first="other/wide")
    return QueueExplanation(
        queue=kind,
        namespace=namespace,
        name="vision",
        cluster_queue="vision",
        cohort="lab",
        active=True,
        summary="120 workloads wait, 1 admitted.",
        pending=120,
        inadmissible=100,
        reserving=1,
        admitted=1,
        quotas=(row(),),
        groups=(group,),
    )


def line_row(number: int, **changes: Any) -> LineRow:
    values: dict[str, Any] = {
        "namespace": "team",
        "name": f"job-{number}",
        "local_queue": "main",
        "priority": 0,
        "position": number,
        "state": "Waiting",
        "reason": "WaitingForQuota",
        "message": "2 more needed",
        "since": "2026-01-31T12:00:00Z",
        "uses": {},
    } | changes
    return LineRow(**values)


def line(*, holding: bool, offset: int = 0, in_all: int = 120, limit: int = 50) -> Line:
    shown = range(offset, min(offset + limit, in_all))
    return Line(
        cluster_queue="vision",
        local_queue="",
        holding=holding,
        offset=offset,
        in_all=in_all,
        rows=tuple(map(line_row, shown)),
    )


def workload() -> WorkloadExplanation:
    remedy = Remedy(
        kind="AskLess", who="Team", text="request at most 4 cpu", result="Admit", edits=()
    )
    place = Place(
        position_in_cluster_queue=1,
        position_in_local_queue=0,
        pending=2,
        strict=True,
        first="other/wide",
        ahead=("other/wide",),
    )
    return WorkloadExplanation(
        namespace="team",
        name="mine",
        state="Waiting",
        summary="It waits: it is not its turn: other/wide comes before it.",
        reason="PendingEvaluation",
        message="",
        local_queue="main",
        cluster_queue="vision",
        cohort="lab",
        priority=0,
        created="2026-01-31T12:00:00Z",
        place=place,
        remedies=(remedy,),
    )


def seat(name: str, pods: int, **changes: Any) -> Seat:
    values: dict[str, Any] = {"cluster_queue": "vision", "priority": 0, "leaving": False}
    values |= {"uses": {"nvidia.com/gpu": str(pods)}, **changes}
    return Seat(workload=name, pods=pods, **values)


def domain(name: str, *seats: Seat, fits: int = 0, in_all: int | None = None) -> Domain:
    return Domain(
        name=name,
        nodes=1,
        free={"nvidia.com/gpu": str(fits)},
        room={"nvidia.com/gpu": "8"},
        fits=fits,
        seats=seats,
        seats_in_all=len(seats) if in_all is None else in_all,
    )


def racks(path: str, offset: int, topology: str) -> ResourceFlavorExplanation | None:
    """Return the domains of a flavor with two racks, one of 120 nodes, and two of strange names.

    By its further topology, there is one domain of links.
    """
    if topology not in {"", "links"}:
        return None
    levels = (f"topology.example/{'link' if topology else 'rack'}", "kubernetes.io/hostname")
    below = {
        "": [
            domain("r1", seat("team/gang", 6), seat(EVIL, 1, leaving=True)),
            domain("r2", fits=9),
            domain(""),
            domain("0"),
        ],
        "/": [domain("in-the-empty-one")],
        "0": [domain("in-number-0")],
        "r1": [domain(f"node-{number}") for number in range(120)],
    }
    if topology:
        below = {"": [domain("l1", seat("team/gang", 6))]}
    if path not in below:
        return None
    return ResourceFlavorExplanation(
        flavors=("h100",),
        name="h100",
        topologies=("dc", "links"),
        topology=topology or "dc",
        levels=levels,
        domain=domain_of(path),
        pod={"nvidia.com/gpu": "1"},
        offset=offset,
        in_all=len(below[path]),
        domains=tuple(below[path][offset : offset + 50]),
    )


def answer(subject: Subject) -> Any:
    """Return what the leader of the samples knows."""
    if subject.kind == FLAVORS:
        if subject.name not in {ALL, "h100"}:
            return None
        return racks(subject.part, subject.offset, subject.topology)
    if subject.part:
        window = {"offset": subject.offset, "limit": subject.limit}
        is_there = subject.name in {"vision", "team/main"}
        return line(holding=subject.part == "holding", **window) if is_there else None
    known: dict[tuple[str, str], Any] = {
        ("cohorts", ALL): TREE,
        ("clusterqueues", "vision"): queue(),
        ("localqueues", "team/main"): queue("LocalQueue", "team"),
        ("workloads", "team/mine"): workload(),
    }
    return known.get((subject.kind, subject.name))


WORKLOAD: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {
        "name": "mine",
        "namespace": "team",
        "uid": "u1",
        "creationTimestamp": "2026-01-31T12:00:00Z",
        "ownerReferences": [{"kind": "Job", "name": "mine"}],
    },
    "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 2}]},
    "status": {
        "conditions": [
            {
                "type": "QuotaReserved",
                "status": "False",
                "reason": "WaitingForQuota",
                "message": EVIL,
                "lastTransitionTime": "2026-01-31T12:01:00Z",
            }
        ]
    },
}
