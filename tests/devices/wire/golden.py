"""Golden manifests: a Job and what surrounds it, and all that its admission makes of it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from queueing.devices.wire.realisation import ClaimOwner, Realisation, realise
from queueing.translate.jobs.injection import Injection
from queueing.translate.jobs.patches import MergePatch, Patch
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.devices.fleet import Wire, around
from tests.kinds.rows import applied
from tests.webhooks.pod_cases import rewritten

GOLDEN = Path(__file__).parent / "manifests"


@dataclass(frozen=True, slots=True)
class Golden:
    """One file: a title, what is given, and what is expected."""

    path: Path
    given: list[Wire]
    job: Wire
    flavors: dict[str, str]
    expected: Wire


def goldens() -> list[Golden]:
    """Read every file, in order."""
    found = []
    for path in sorted(GOLDEN.glob("*.yaml")):
        content = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        expected = {key: content[key] for key in ("objects", "patch", "pod")}
        found.append(Golden(path, content["given"], content["job"], content["flavors"], expected))
    return found


def job_of(document: Wire) -> JobView:
    """Decode a Job as a watch would."""
    return batch_job(document)


def admitted(job: JobView, flavors: dict[str, str]) -> Workload:
    """Return the Job's Workload, admitted to these flavors."""
    pod_sets = job.wire_pod_sets()
    assignment = {"name": "main", "count": pod_sets[0]["count"], "flavors": flavors}
    made = {
        "metadata": {"name": "job-train-1", "namespace": "team", "uid": "workload-uid"},
        "spec": {"podSets": pod_sets, "queueName": "main"},
        "status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]}},
    }
    return msgspec.json.decode(msgspec.json.encode(made), type=Workload)


def realised(one: Golden) -> Realisation:
    """Return what the admission makes of devices."""
    job = job_of(one.job)
    owner = ClaimOwner(api_version="batch/v1", kind="Job", metadata=job.metadata)
    return realise(admitted(job, one.flavors), owner, around(one.given))


def start_of(one: Golden) -> Patch:
    """Return the one patch that starts the Job."""
    changes = realised(one).changes.get("main")
    added = Injection(count=1) if changes is None else Injection(count=1).with_changes(changes)
    (patch,) = job_of(one.job).start([added])
    return patch


def spelled(patch: Patch) -> Any:
    """Return a patch as it is sent: a mapping is a merge patch, a list a JSON patch."""
    return patch.body if isinstance(patch, MergePatch) else msgspec.to_builtins(patch.operations)


def started(one: Golden) -> Wire:
    """Return the Job as the patch leaves it."""
    return applied(one.job, start_of(one))


def made(one: Golden) -> Wire:
    """Return everything that the file expects, as it is now."""
    template = started(one)["spec"]["template"]
    return {
        "objects": list(realised(one).objects),
        "patch": spelled(start_of(one)),
        "pod": rewritten(template),
    }


def write(path: Path, content: Wire) -> None:
    """Write a file as the others are written."""
    order = ("title", "given", "job", "flavors", "objects", "patch", "pod")
    text = json.loads(json.dumps({key: content[key] for key in order}))
    path.write_text(yaml.safe_dump(text, sort_keys=False, width=100))


if __name__ == "__main__":
    for golden in goldens():
        whole = yaml.safe_load(golden.path.read_text())
        write(golden.path, {**whole, **made(golden)})
