"""What is missing is waited for and named; what is wrong in the Configuration stops the start."""

from collections.abc import Callable
from functools import partial

import pytest

from e2e import product
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.identities import CONTROLLER
from e2e.jobs import wait_job, wait_workload
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.proxy import Cable
from e2e.wire import ApiError, Object
from e2e.world import World

LET_GO = {"metadata": {"finalizers": None}}
EVERYTHING = 1_000_000
AWAY = " is away; retrying"
LOST = "the leadership is lost"


def waits_because(text: str) -> Callable[[Object], bool]:
    """Return the question whether a Workload has no quota, for a reason that names `text`."""

    def question(workload: Object) -> bool:
        said = condition(workload, "QuotaReserved")
        return said.get("status") == "False" and text in said["message"]

    return question


def test_a_job_that_no_rule_would_let_in_can_be_let_go(
    space: World, controller: Controller
) -> None:
    labels = {"kueue.x-k8s.io/max-exec-time-seconds": "hour"}
    wrong = job(space.namespace, "old", queue="team", labels=labels)
    wrong["metadata"]["finalizers"] = ["queueing.test/held"]
    # Our own writes are not judged: so it is as if it were older than the rules.
    space.cluster.api(CONTROLLER).create(wrong)
    with pytest.raises(ApiError, match="must be a whole number of seconds"):
        space.api.patch("Job", "old", LET_GO, namespace=space.namespace)
    space.api.delete("Job", "old", space.namespace)
    space.api.patch("Job", "old", LET_GO, namespace=space.namespace)
    space.api.wait_gone("Job", "old", space.namespace)


def test_a_job_waits_for_its_local_queue_and_proceeds_when_it_appears(
    space: World, controller: Controller
) -> None:
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "1"}}),
        job(space.namespace, "early", queue="team"),
    )
    wait_workload(space, "early", waits_because("LocalQueue team doesn't exist"), "waiting")
    space.make(local_queue(space.namespace, "team", space.name("cq")))
    wait_job(space, "early", lambda one: holds(one, "Complete"), "complete")


def test_a_local_queue_waits_for_its_cluster_queue_and_says_so(
    space: World, controller: Controller
) -> None:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        local_queue(space.namespace, "team", name),
        job(space.namespace, "early", queue="team"),
    )
    wait_workload(space, "early", waits_because(name), "waiting for the ClusterQueue")
    waiting = space.api.wait_one(
        "LocalQueue",
        "team",
        lambda one: condition(one, "Active").get("status") == "False",
        namespace=space.namespace,
        what="inactive",
    )
    assert condition(waiting, "Active")["reason"] == "ClusterQueueDoesNotExist"
    space.make(cluster_queue(name, {space.name("any"): {"cpu": "1"}}))
    wait_job(space, "early", lambda one: holds(one, "Complete"), "complete")
    space.wait_for_queue("team")


def test_a_cluster_queue_waits_for_its_flavor_and_names_it(
    space: World, controller: Controller
) -> None:
    name, missing = space.name("cq"), space.name("late")
    space.make(
        cluster_queue(name, {missing: {"cpu": "1"}}),
        local_queue(space.namespace, "team", name),
        job(space.namespace, "early", queue="team"),
    )
    waiting = space.api.wait_one(
        "ClusterQueue",
        name,
        lambda one: condition(one, "Active").get("status") == "False",
        what="inactive",
    )
    assert condition(waiting, "Active")["reason"] == "FlavorNotFound"
    assert missing in condition(waiting, "Active")["message"]
    space.make(flavor(missing))
    wait_job(space, "early", lambda one: holds(one, "Complete"), "complete")


def test_a_job_of_a_namespace_that_its_queue_does_not_select_waits_for_a_label(
    space: World, controller: Controller
) -> None:
    name = space.name("cq")
    selector = {"matchLabels": {"team": "research"}}
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": "1"}}, namespaceSelector=selector),
        local_queue(space.namespace, "team", name),
        job(space.namespace, "early", queue="team"),
    )
    wait_workload(space, "early", waits_because("namespace"), "waiting for the namespace")
    space.api.patch("Namespace", space.namespace, {"metadata": {"labels": {"team": "research"}}})
    wait_job(space, "early", lambda one: holds(one, "Complete"), "complete")


def test_a_job_whose_queue_was_torn_away_runs_on_and_says_so_until_the_queue_is_back(
    space: World, controller: Controller
) -> None:
    name = space.name("cq")
    queue = cluster_queue(name, {space.name("any"): {"cpu": "1"}})
    runs = Pods(run_s=None)
    space.make(
        flavor(space.name("any")),
        queue,
        local_queue(space.namespace, "team", name),
        job(space.namespace, "early", queue="team", pods=runs),
    )
    wait_workload(space, "early", lambda one: holds(one, "Admitted"), "admitted")
    space.api.wait_one(
        "ClusterQueue",
        name,
        lambda one: bool(one["metadata"].get("finalizers")),
        what="kept while it is used",
    )
    space.api.delete("ClusterQueue", name)
    space.api.patch("ClusterQueue", name, {"metadata": {"finalizers": None}})
    wait_workload(space, "early", _is_reserved("Misconfigured", "doesn't exist"), "told")
    assert not space.api.get("Job", "early", namespace=space.namespace)["spec"]["suspend"]
    space.make(queue, job(space.namespace, "late", queue="team"))
    wait_workload(space, "early", _is_reserved("QuotaReserved", name), "put right")
    wait_workload(space, "late", waits_because("insufficient unused quota"), "waiting")


def _is_reserved(reason: str, text: str) -> Callable[[Object], bool]:
    """Return the question whether a Workload holds quota, and says so in these words."""

    def question(workload: Object) -> bool:
        said = condition(workload, "QuotaReserved")
        return said.get("status") == "True" and said["reason"] == reason and text in said["message"]

    return question


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        pytest.param(
            {"integrations": {"frameworks": ["batch/cronjob"]}},
            ("integrations.frameworks", "batch/cronjob"),
            id="a framework that does not exist",
        ),
        pytest.param(
            {"waitForPodsReady": {"timeout": "-5m"}},
            ("waitForPodsReady.timeout", "-5m"),
            id="a negative duration",
        ),
        pytest.param(
            {"leaderElection": {"leaderElect": True, "leaseDuration": "soon"}},
            ("leaderElection.leaseDuration", "soon"),
            id="a duration that is none",
        ),
    ],
)
def test_the_process_refuses_to_start_and_names_field_and_value(
    installed: Cluster, space: World, settings: Object, names: tuple[str, str]
) -> None:
    refused = product.start(installed, space.name("refused"), settings)
    assert refused.process.wait_for_exit(60) not in {0, None}
    said = refused.process.tail()
    for name in names:
        assert name in said
    assert "Traceback" not in said


def test_an_api_server_that_is_away_is_waited_for_and_said_once(
    installed: Cluster, space: World, controllers: Callable[..., Controller]
) -> None:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": "1"}}),
        local_queue(space.namespace, "team", name),
        job(space.namespace, "early", queue="team"),
    )
    port = int(installed.api().access.server.rpartition(":")[2])
    with Cable(port) as cable:
        lone = controllers("lone", kubeconfig=installed.through(cable.port, CONTROLLER))
        wait_job(space, "early", lambda one: holds(one, "Complete"), "complete: it leads")
        before = len(lone.process.tail(EVERYTHING).splitlines())
        cable.cut()
        space.make(job(space.namespace, "meanwhile", queue="team"))
        # Longer than the Lease may go unrenewed: the leadership is lost meanwhile.
        for words in (AWAY, LOST):
            lone.process.wait_until(
                partial(_said, lone, before, words), timeout_s=60, what=f"saying {words!r}"
            )
        cable.plug()
        wait_job(space, "meanwhile", lambda one: holds(one, "Complete"), "complete")
        assert _since(lone, before).count(AWAY) == 1
        assert lone.process.running


def _said(controller: Controller, line: int, words: str) -> bool:
    return words in _since(controller, line)


def _since(controller: Controller, line: int) -> str:
    return "\n".join(controller.process.tail(EVERYTHING).splitlines()[line:])
