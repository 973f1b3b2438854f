"""What Jobs must agree on to be a gang, and the Workload they become."""

import itertools
from typing import Any

import msgspec
import pytest

from queueing.kinds.jobs import read_job
from queueing.kinds.registry import kind_of
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs import gang_workload
from queueing.translate.jobs.composition import Priority
from queueing.translate.jobs.gang import (
    SIZE_MAX,
    Incomplete,
    OnFailure,
    Refused,
    Whole,
    on_failure,
    part_for,
    part_of,
    pod_set_names,
    verdict,
)
from queueing.translate.jobs.gang_keys import gang_key
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

GANG = "queueing.dev/gang"
SIZE = "queueing.dev/gang-size"
ON_FAILURE = "queueing.dev/gang-on-failure"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
LIMIT = "kueue.x-k8s.io/max-exec-time-seconds"
PARTIAL = "kueue.x-k8s.io/job-min-parallelism"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
POD = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}


def member(
    name: str,
    size: str | None = "3",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    pods: dict[str, Any] | None = None,
) -> JobView:
    given = {} if size is None else {SIZE: size}
    metadata = {
        "name": name,
        "namespace": "team",
        "uid": f"uid-{name}",
        "labels": {GANG: "Train_1", QUEUE: "lq", **(labels or {})},
        "annotations": {**given, **(annotations or {})},
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {**POD, **(pods or {})}}
    spec = {"suspend": True, "parallelism": 2, "completions": 2, "template": template}
    return batch_job({"metadata": metadata, "spec": spec})


def job_set(name: str, *replicated: str, **spec: Any) -> JobView:
    """Return a JobSet of the same gang, with replicated jobs of these names."""
    template = {"spec": {"parallelism": 2, "template": {"spec": POD}}}
    thing = {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-set-{name}",
            "labels": {GANG: "Train_1", QUEUE: "lq"},
            "annotations": {SIZE: "3"},
        },
        "spec": {
            "suspend": True,
            "replicatedJobs": [{"name": one, "template": template} for one in replicated],
            **spec,
        },
    }
    kind = kind_of("jobset.x-k8s.io/jobset")
    return read_job(kind, msgspec.json.encode(thing), lambda _: None)


def three(third: JobView) -> list[JobView]:
    return [member("a"), member("b"), third]


REFUSALS = [
    pytest.param(
        three(member("c", size="2")),
        "the Jobs disagree on the gang-size: 3 (a, b); 2 (c)",
        id="sizes differ",
    ),
    pytest.param(
        three(member("c", size=None)),
        "the Jobs disagree on the gang-size: 3 (a, b); none (c)",
        id="one names no size",
    ),
    pytest.param(
        three(member("c", labels={QUEUE: "other"})),
        "the Jobs disagree on the queue: lq (a, b); other (c)",
        id="queues differ",
    ),
    pytest.param(
        three(member("c", labels={PRIORITY: "high"})),
        "the Jobs disagree on the priority class: none (a, b); high (c)",
        id="priorities differ",
    ),
    pytest.param(
        three(member("c", pods={"priorityClassName": "high"})),
        "the Jobs disagree on the priority class: none (a, b); high (c)",
        id="priorities of pods differ",
    ),
    pytest.param(
        three(member("c", labels={LIMIT: "60"})),
        "the Jobs disagree on the maximum execution time: none (a, b); 60 (c)",
        id="limits differ",
    ),
    pytest.param(
        three(member("c", annotations={ON_FAILURE: "Continue"})),
        "the Jobs disagree on the gang-on-failure: Fail (a, b); Continue (c)",
        id="what a failure means differs",
    ),
    pytest.param(
        [*three(member("c")), member("d")],
        "the gang-size is 3 but more Jobs exist: a, b, c, d",
        id="too many",
    ),
    pytest.param(
        [member(name, annotations={PARTIAL: "1"}) for name in "abc"],
        f"at most one Job of a gang may have the annotation {PARTIAL}: a, b, c",
        id="more than one may shrink",
    ),
    pytest.param(
        three(member("c", labels={PREBUILT: "w"})),
        f"a Job of a gang cannot have {PREBUILT}: c",
        id="one has a Workload made for it",
    ),
    pytest.param(
        [member(name, annotations={ON_FAILURE: "Retry"}) for name in "abc"],
        f"the annotation {ON_FAILURE} is 'Retry': it must be Fail or Continue",
        id="an unknown word for failures",
    ),
    pytest.param(
        three(job_set("c")),
        "the pods of JobSet c cannot be told: the object has no pod set; there must be at least one"
        " (spec.podSets of the description of JobSet)",
        id="one without pods",
    ),
    pytest.param(
        three(job_set("c", "w", "w")),
        "the pods of JobSet c cannot be told: spec.replicatedJobs[1]: two pod sets are named 'w';"
        " names are told apart in lower case (spec.podSets[0] of the description of JobSet)",
        id="one that cannot be read",
    ),
    pytest.param(
        three(job_set("c", *(f"w{number}" for number in range(17)))),
        "its Jobs have 19 pod sets, and a Workload at most 18: a, b, JobSet c",
        id="more pod sets than a Workload has",
    ),
    pytest.param(
        [member("a-b"), member("b"), job_set("a", "b")],
        "pods of two sets would both be called a-b: JobSet a, a-b",
        id="two pod sets of one name",
    ),
    pytest.param(
        [member(name, size=None) for name in "abc"],
        f"the annotation {SIZE} is missing: it must be a number from 1 to 18",
        id="no size at all",
    ),
]


@pytest.mark.parametrize(("jobs", "message"), REFUSALS)
def test_jobs_that_can_be_no_gang_are_told_why(jobs: list[JobView], message: str) -> None:
    assert verdict(jobs) == Refused(message)


@pytest.mark.parametrize(
    "size", ["0", "19", "-1", "three", "3.0", " 3", "03", "\uff13", "9" * 5000]
)
def test_a_size_that_is_no_number_of_pod_sets_is_refused(size: str) -> None:
    got = verdict([member("a", size=size)])
    assert isinstance(got, Refused)
    assert got.message.startswith(f"the annotation {SIZE} is ")


def test_the_verdict_does_not_depend_on_the_order_of_the_jobs() -> None:
    jobs = [*three(member("c")), member("d", size="2")]
    verdicts = [verdict(order) for order in itertools.permutations(jobs)]
    assert all(one == verdicts[0] for one in verdicts)


def test_a_gang_waits_until_it_is_whole() -> None:
    jobs = three(member("c"))
    assert verdict(jobs[:2]) == Incomplete("2 of 3 Jobs exist: a, b")
    assert verdict(jobs[::-1]) == Whole(tuple(jobs))


@pytest.mark.parametrize("size", [1, SIZE_MAX])
def test_from_one_to_eighteen_jobs_can_be_a_gang(size: int) -> None:
    jobs = [member(f"j{number:02}", size=str(size)) for number in range(size)]
    assert verdict(jobs) == Whole(tuple(jobs))


def test_one_job_more_among_very_many_is_no_news_to_the_others() -> None:
    jobs = [member(f"j{number:03}", size=str(number % 2)) for number in range(60)]
    assert verdict(jobs) == verdict(jobs[:59])


def test_one_job_of_a_gang_may_run_with_fewer_pods() -> None:
    assert isinstance(verdict(three(member("c", annotations={PARTIAL: "1"}))), Whole)


@pytest.mark.parametrize(
    "name", ["train-0", "Train", "a.b.c", "x" * 63, "x" * 64, "9", "a.-b", "." * 3 + "a"]
)
def test_a_pod_set_is_named_after_its_job_as_far_as_a_label_can_be(name: str) -> None:
    (got,) = pod_set_names(member(name))
    assert len(got) <= 63
    assert got.replace("-", "").isalnum()
    assert got == got.lower()
    assert not got.startswith("-")
    plain = name.replace("-", "").isalnum() and name.islower() and len(name) <= 63
    assert (got == name) == (plain or name == "9")


def test_jobs_whose_names_differ_only_in_dots_have_pod_sets_of_their_own() -> None:
    given = ("a.b", "a-b", "a.b-", "A-B", "a" * 70)
    names = {name for one in given for name in pod_set_names(member(one))}
    assert len(names) == 5


def composed(jobs: list[JobView], priority: Priority | None = None) -> dict[str, Any]:
    body = gang_workload.compose(jobs, priority or Priority(value=0), ("team", "who"))
    return dict(msgspec.json.decode(body))


def test_every_job_owns_the_workload_and_none_controls_it() -> None:
    got = composed(three(member("c")))
    owners = got["metadata"]["ownerReferences"]
    assert [one["uid"] for one in owners] == ["uid-a", "uid-b", "uid-c"]
    assert not any("controller" in one or "blockOwnerDeletion" in one for one in owners)
    assert got["metadata"]["labels"] == {GANG: "Train_1"}
    assert got["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]


def test_there_is_a_pod_set_for_each_job() -> None:
    got = composed(three(member("c")))["spec"]["podSets"]
    assert [(one["name"], one["count"]) for one in got] == [("a", 2), ("b", 2), ("c", 2)]
    assert [one["template"]["metadata"]["labels"]["app"] for one in got] == ["a", "b", "c"]


def test_the_pod_sets_of_other_kinds_are_named_after_object_and_pod_set() -> None:
    found = verdict([member("a"), job_set("a", "driver", "workers"), member("b")])
    assert isinstance(found, Whole)
    got = composed(list(found.members))
    assert [(one["name"], one["count"]) for one in got["spec"]["podSets"]] == [
        ("a", 2),
        ("a-driver", 2),
        ("a-workers", 2),
        ("b", 2),
    ]
    owners = [(one["kind"], one["name"]) for one in got["metadata"]["ownerReferences"]]
    assert owners == [("Job", "a"), ("JobSet", "a"), ("Job", "b")]


def test_an_object_with_several_pod_sets_is_one_part_of_the_workload() -> None:
    job, a_set = member("a"), job_set("s", "driver", "workers")
    whole = read(Workload, composed([job, a_set]))
    part = part_for(a_set, whole)
    assert [one.name for one in part.spec.pod_sets] == ["s-driver", "s-workers"]
    assert a_set.fits(part)
    assert job.fits(part_for(job, whole))


def test_what_the_jobs_share_is_copied() -> None:
    gates = {"kueue.x-k8s.io/admission-gated-by": "x.example/one"}
    more = {"kueue.x-k8s.io/admission-gated-by": "x.example/two, x.example/one"}
    shared = {"team": "t", LIMIT: "60"}
    jobs = [
        member("a", labels={**shared, "who": "me"}, annotations=gates),
        member("b", labels={**shared, "who": "you"}, annotations=more),
    ]
    priority = Priority(value=5, reference={"group": "g", "kind": "k", "name": "n"})
    got = composed(jobs, priority)
    assert got["metadata"]["labels"] == {"team": "t", GANG: "Train_1"}
    assert got["metadata"]["annotations"] == {
        "kueue.x-k8s.io/admission-gated-by": "x.example/one,x.example/two"
    }
    spec = got["spec"]
    assert (spec["queueName"], spec["maximumExecutionTimeSeconds"]) == ("lq", 60)
    assert (spec["priority"], spec["priorityClassRef"]["name"]) == (5, "n")


@pytest.mark.parametrize(
    ("word", "want"),
    [
        pytest.param(None, OnFailure.FAIL, id="unsaid"),
        pytest.param("Fail", OnFailure.FAIL, id="fail"),
        pytest.param("Continue", OnFailure.CONTINUE, id="continue"),
    ],
)
def test_the_workload_remembers_what_a_failure_means(word: str | None, want: OnFailure) -> None:
    given = {} if word is None else {ON_FAILURE: word}
    made = read(Workload, composed([member(name, annotations=given) for name in "abc"]))
    assert on_failure(made.metadata) is want


def test_the_name_is_that_of_these_lives_of_these_jobs() -> None:
    jobs = three(member("c"))
    name = gang_workload.name_of(jobs)
    assert name.startswith("gang-train-1-")
    assert len(name) == len("gang-train-1-") + 5
    assert gang_workload.name_of(jobs[::-1]) == name
    assert gang_workload.name_of(three(member("d"))) != name


def test_gangs_of_two_namespaces_are_two() -> None:
    meta = member("a").metadata
    assert gang_key(meta) == "team/Train_1"
    assert gang_key(Meta(namespace="other", labels={GANG: "Train_1"})) == "other/Train_1"
    assert gang_key(Meta(namespace="team")) is None


def test_a_part_of_the_workload_is_as_a_single_jobs_would_be() -> None:
    jobs = three(member("c"))
    assigned = [
        {"name": name, "count": 2, "flavors": {"cpu": f"f-{name}"}, "resourceUsage": {"cpu": "2"}}
        for name in "abc"
    ]
    status = {"admission": {"clusterQueue": "cq", "podSetAssignments": assigned}}
    whole = read(Workload, {**composed(jobs), "status": status})
    for job in jobs:
        part = part_of(whole, job.metadata.name)
        assert job.fits(part)
        assert part.status.admission is not None
        (found,) = part.status.admission.pod_set_assignments
        assert found.flavors == {"cpu": f"f-{job.metadata.name}"}
    other = member("a", pods={"containers": [{"name": "c", "image": "y"}]})
    assert not other.fits(part_of(whole, "a"))
