"""Jobs as tests wait for them."""

from collections.abc import Callable, Sequence

from e2e.api import holds
from e2e.wire import Object
from e2e.world import World

JOB_UID = "kueue.x-k8s.io/job-uid"
# Enough for a few hundred Jobs on a busy machine.
COMPLETE_S = 240.0


def wait_complete(space: World, *, count: int, timeout_s: float = COMPLETE_S) -> list[Object]:
    """Wait until `count` Jobs of the test's namespace are complete, and none failed."""

    def complete(jobs: Sequence[Object]) -> bool:
        failed = [job["metadata"]["name"] for job in jobs if holds(job, "Failed")]
        assert not failed, f"failed: {failed}"
        return sum(holds(job, "Complete") for job in jobs) == count

    return space.api.wait(
        "Job",
        complete,
        namespace=space.namespace,
        timeout_s=timeout_s,
        what=f"{count} Jobs complete",
    )


def wait_job(
    space: World, name: str, until: Callable[[Object], bool], what: str, timeout_s: float = 120.0
) -> Object:
    """Wait for one Job of the test's namespace."""
    return space.api.wait_one(
        "Job", name, until, namespace=space.namespace, timeout_s=timeout_s, what=what
    )


def running(job: Object) -> bool:
    """Tell whether all pods of a Job run and are ready."""
    spec, status = job["spec"], job.get("status", {})
    return not spec.get("suspend") and status.get("ready", 0) == spec["parallelism"]


def stopped(job: Object) -> bool:
    """Tell whether a Job is suspended and none of its pods is left or going."""
    status = job.get("status", {})
    alive = status.get("active", 0) or status.get("ready", 0) or status.get("terminating", 0)
    return bool(job["spec"].get("suspend")) and not alive


def workload_of(space: World, job: str) -> Object:
    """Wait for the Workload that a Job owns, and return it."""
    uid = space.api.get("Job", job, space.namespace)["metadata"]["uid"]
    return space.api.wait(
        "Workload",
        lambda found: any(owned_by(one, uid) for one in found),
        namespace=space.namespace,
        labels=f"{JOB_UID}={uid}",
        what=f"a Workload of Job {job}",
    )[0]


def wait_workload(
    space: World, job: str, until: Callable[[Object], bool], what: str, timeout_s: float = 120.0
) -> Object:
    """Wait for the Workload of a Job to become as wanted."""
    name = workload_of(space, job)["metadata"]["name"]
    return space.api.wait_one(
        "Workload", name, until, namespace=space.namespace, timeout_s=timeout_s, what=what
    )


def wait_workload_of(
    space: World, thing: Object, until: Callable[[Object], bool], what: str
) -> Object:
    """Wait until a Workload of an object of any kind is as wanted."""
    found = space.api.wait(
        "Workload",
        lambda items: any(map(until, items)),
        namespace=space.namespace,
        labels=f"{JOB_UID}={thing['metadata']['uid']}",
        what=what,
    )
    return next(one for one in found if until(one))


def wait_told(space: World, kind: str, name: str, reason: str) -> str:
    """Wait for an Event about an object, and return what it says."""

    def concerns(one: Object) -> bool:
        return bool(
            one["reason"] == reason
            and one["involvedObject"]["kind"] == kind
            and one["involvedObject"]["name"] == name
        )

    found = space.api.wait(
        "Event",
        lambda items: any(map(concerns, items)),
        namespace=space.namespace,
        what=f"{reason} of {kind} {name}",
    )
    return next(str(one["message"]) for one in found if concerns(one))


def owned_by(item: Object, uid: str) -> bool:
    owners = item["metadata"].get("ownerReferences") or []
    return any(owner["uid"] == uid for owner in owners)
