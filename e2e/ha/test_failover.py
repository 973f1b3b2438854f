"""Leaders frozen beyond their Lease, killed, or told to go, in the middle of their writes."""

import base64
import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import islice

import yaml

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controller.shapes import Cohorts
from e2e.ha.history import Audit
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.jobs import wait_complete
from e2e.objects import job
from e2e.product import LEASE, Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

LEASE_S = 5
SHORT = {
    "leaderElection": {
        "leaderElect": True,
        "resourceName": LEASE,
        "leaseDuration": f"{LEASE_S}s",
        "renewDeadline": "4s",
        "retryPeriod": "500ms",
    }
}
DECIDES_WITHIN_S = LEASE_S + 5.0
FAULTS_EACH = 10
BURST = 6
AFTERWARDS = 3
"""Jobs that come while nobody leads: whatever happened before, there is something to decide."""
Launch = Callable[..., Controller]


def lease(cluster: Cluster) -> Object:
    found = cluster.api().find("Lease", LEASE, CONTROLLER_NAMESPACE) or {}
    return dict(found.get("spec", {}))


def wait_leader(cluster: Cluster, among: Sequence[Controller], *, after: int = -1) -> Controller:
    """Wait until one of these leads in a term later than `after`."""

    def led(item: Object) -> Controller | None:
        epoch = item["spec"].get("leaseTransitions", 0)
        if epoch <= after or not item["spec"].get("holderIdentity"):
            return None
        said = f"leading, epoch {epoch}"
        logs = [(one, one.process.program.log) for one in among]
        return next((one for one, log in logs if said in log.read_text(errors="replace")), None)

    item = cluster.api().wait_one(
        "Lease",
        LEASE,
        lambda one: led(one) is not None,
        namespace=CONTROLLER_NAMESPACE,
        what=f"one of {[one.process.name for one in among]} leading after epoch {after}",
    )
    found = led(item)
    assert found is not None
    return found


def epoch_of(cluster: Cluster) -> int:
    return int(lease(cluster).get("leaseTransitions", 0))


def wait_admitted_since(audit: Audit, before: int) -> None:
    """Wait until an admission is seen after the first `before` ones."""
    audit.cluster.api().wait(
        "Workload",
        lambda _: len(audit.admissions) > before,
        namespace=audit.namespace,
        what="somebody new admitted",
    )


def make(space: World, jobs: Iterable[Object]) -> int:
    """Create Jobs, and count them."""
    created = list(jobs)
    space.make(*created)
    return len(created)


def wait_decided(audit: Audit, since: float) -> float:
    """Wait for the first admission after a moment; return how long it took from then."""

    def decided(_: object) -> bool:
        return any(at > since for at, _ in audit.admissions)

    audit.cluster.api().wait(
        "Workload", decided, namespace=audit.namespace, what="the new leader decides"
    )
    return min(at for at, _ in audit.admissions if at > since)


def test_leaders_are_frozen_and_killed_under_load_and_nothing_is_lost_or_over_admitted(
    space: World, installed: Cluster, controllers: Launch
) -> None:
    queues = Cohorts(space, cohorts=2, queues=2)
    queues.make()
    jobs = queues.jobs((BURST + AFTERWARDS) * (2 * FAULTS_EACH + 1))
    made, took = 0, []
    replicas = [controllers("one", SHORT), controllers("two", SHORT)]
    with Audit(installed, space.namespace, queues.ledger()) as audit:
        for number in range(2 * FAULTS_EACH):
            leader, epoch = wait_leader(installed, replicas), epoch_of(installed)
            before = len(audit.admissions)
            made += make(space, islice(jobs, BURST))
            wait_admitted_since(audit, before)
            freezes = number % 2 == 0
            at = time.monotonic()
            if freezes:
                leader.freeze()
            else:
                leader.kill()
            made += make(space, islice(jobs, AFTERWARDS))
            if not freezes:
                replicas.remove(leader)
                replicas.append(controllers(f"next-{number}", SHORT))
            wait_leader(installed, [one for one in replicas if one is not leader], after=epoch)
            took.append(wait_decided(audit, since=at + LEASE_S / 2) - at)
            leader.thaw()
            audit.check()
        made += make(space, jobs)
        wait_complete(space, count=made)
        space.api.wait(
            "Workload",
            lambda found: sum(holds(one, "Finished") for one in found) == made,
            namespace=space.namespace,
            what=f"{made} Workloads finished",
        )
        audit.check()
    assert not audit.stopped, "a Job ran, and was stopped"
    assert max(audit.ledger.most.values()) > 8, "no queue ever borrowed"
    usual = sorted(took)[len(took) // 2]
    print("decided after", ", ".join(f"{one:.1f}" for one in took), "s")
    assert usual < DECIDES_WITHIN_S, f"decided after {took}"
    wait_nothing_held(space.api, space.namespace, queues.names)


def suspends_a_job(cluster: Cluster, controller: Controller) -> bool:
    """Ask a replica's webhook about a Job that is to run at once; tell whether it suspends it."""
    config = cluster.folder / f"{controller.process.name}.yaml"
    port = yaml.safe_load(config.read_text())["webhook"]["port"]
    eager = job("default", "eager", queue="team", suspend=False)
    request = {
        "uid": "1",
        "kind": {"group": "batch", "version": "v1", "kind": "Job"},
        "resource": {"group": "batch", "version": "v1", "resource": "jobs"},
        "operation": "CREATE",
        "namespace": "default",
        "name": "eager",
        "userInfo": {},
        "object": eager,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    # Nobody's CA is known here: the API server gets it with the webhook configuration.
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with closing(http.client.HTTPSConnection(HOST, port, timeout=30, context=trusting)) as asked:
        body = json.dumps(review)
        asked.request("POST", "/mutate-batch-v1-job", body, {"Content-Type": "application/json"})
        answer = json.loads(asked.getresponse().read())["response"]
    return bool(answer["allowed"]) and b"suspend" in base64.b64decode(answer.get("patch", ""))


def test_both_serve_and_a_leader_that_is_told_to_go_hands_over_at_once(
    space: World, installed: Cluster, controllers: Launch
) -> None:
    replicas = [controllers("one"), controllers("two")]
    leader, epoch = wait_leader(installed, replicas), epoch_of(installed)
    for one in replicas:
        assert one.ready()
        assert suspends_a_job(installed, one)
    (other,) = [one for one in replicas if one is not leader]
    began = time.monotonic()
    assert leader.stop() == 0
    wait_leader(installed, [other], after=epoch)
    # The lease of 15 s was not waited for.
    assert time.monotonic() - began < 15.0
    queues = Cohorts(space, cohorts=1, queues=1)
    queues.make()
    space.make(*queues.jobs(3))
    wait_complete(space, count=3)
