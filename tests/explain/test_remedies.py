"""What is tried to find remedies, and what is not."""

from dataclasses import replace

from queueing.core.names import Key
from queueing.explain import answers
from queueing.explain.model import WorkloadExplanation
from queueing.explain.trial import WORKLOADS_MAX
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, local_queue, pod_set, workload
from queueing.testing.worlds import world
from tests.explain.case import CASES, Case

MINE = Key("team/mine")


def engine(waiting: int = 1, **fields: object) -> Engine:
    """Return an engine with a queue of 4 cores, of which 2 are used, and some who ask for 3."""
    made = Engine()
    queue = cluster_queue("main", {"default": {"cpu": 4_000}})
    for fact in (*world(queue), local_queue("team/side", "main")):
        made.observe(fact)
    runs = (pod_set({"cpu": 2_000}),)
    made.observe(workload("team/runs", local_queue="team/main", pod_sets=runs, created=0.0))
    made.cycle(1.0)
    for number in range(waiting):
        name = "team/mine" if not number else f"team/other-{number}"
        fact = workload(
            name,
            local_queue="team/main",
            pod_sets=(pod_set({"cpu": 1_000}, count=3),),
            created=2.0 + number,
        )
        made.observe(replace(fact, **fields))  # type: ignore[arg-type] # fields by name
    made.cycle(10.0)
    return made


def told(made: Engine, **options: object) -> WorkloadExplanation:
    answer = answers.workload(made, MINE, **options)  # type: ignore[arg-type] # options by name
    assert answer is not None
    return answer


def kinds(answer: WorkloadExplanation) -> list[str]:
    return [one.kind for one in answer.remedies]


def test_while_decisions_are_being_written_queues_are_left_alone() -> None:
    answer = told(engine())
    assert kinds(answer) == ["AskLess", "FewerPods"]
    assert "while decisions are being written: ask again" in answer.remedies_note


def test_who_has_no_time_is_told_that_not_all_was_tried() -> None:
    answer = told(engine(), enough=lambda: True)
    assert kinds(answer) == []
    assert answer.remedies_note == "there was no time to try all: ask again when less is going on"
    assert answer.blockers[0].kind == "Quota"


def test_a_tree_of_many_workloads_is_not_copied() -> None:
    answer = told(engine(WORKLOADS_MAX + 1))
    assert kinds(answer) == ["AskLess", "FewerPods"]
    assert f"with more than {WORKLOADS_MAX} workloads" in answer.remedies_note


def test_a_slice_of_an_elastic_job_can_only_have_fewer_pods() -> None:
    assert kinds(told(engine(slice_of="job"))) == ["FewerPods"]


def test_who_is_not_there_is_not_explained() -> None:
    made = engine()
    assert answers.workload(made, Key("team/nobody")) is None
    assert answers.local_queue(made, Key("team/nowhere")) is None


def test_whose_end_would_make_room_is_searched_while_there_is_time() -> None:
    """Each step of the search places all pods anew, which takes long where nodes are many."""
    (path,) = (one for one in CASES if one.stem == "enough-is-free-but-in-no-rack")
    made = Case(path).cluster().engine
    assert "there would be a place if team/x ended" in told(made).summary
    in_time = "7 cpu is free, at most 4 of it in one rack (a, r1)."
    assert told(made, enough=lambda: True).summary.endswith(in_time)
