"""The same manifests as other programs write them come to the same decisions."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing_api.kueue.convert import convert
from tests.scenarios.scenario import CASES, load_scenario, run_scenario

KUEUE = "kueue.x-k8s.io"
OTHERS = ("\n  error: ", "\n  items:\n")
"""Cases that are about how manifests are written."""
SOME = [
    path
    for path in CASES[::20]
    if not any(one in path.read_text(encoding="utf-8") for one in OTHERS)
]

Json = dict[str, Any]

UNSET: dict[str, tuple[str, ...]] = {
    "ClusterQueue": ("admissionChecksStrategy", "admissionScope", "fairSharing", "stopPolicy"),
    "Cohort": ("fairSharing", "resourceGroups"),
    "LocalQueue": ("fairSharing", "stopPolicy"),
    "ResourceFlavor": ("nodeLabels", "nodeTaints", "tolerations", "topologyName"),
    "Workload": ("active", "maximumExecutionTimeSeconds", "priority", "priorityClassRef"),
}
"""Fields of a spec that a program may write as null where they say nothing."""


def is_kueues(document: Json) -> bool:
    return bool(document["apiVersion"] == f"{KUEUE}/v1beta2")


def as_a_program_marshals(document: Json) -> Json:
    """Write nulls for what is not set, times among it, and empty statuses."""
    if not is_kueues(document):
        return document
    metadata = {"creationTimestamp": None, **document["metadata"]}
    nothing = dict.fromkeys(UNSET.get(document["kind"], ()))
    spec = nothing | (document.get("spec") or {})
    for pod_set in spec.get("podSets", []):
        pod_set |= {one: pod_set.get(one) for one in ("minCount", "topologyRequest")}
        template = pod_set["template"]
        template["metadata"] = {"creationTimestamp": None} | template.get("metadata", {})
    status = document.get("status") or {}
    for condition in status.get("conditions", []):
        condition |= {"message": "", "lastTransitionTime": None} | condition
    written = document | {"metadata": metadata, "status": status}
    return written | ({"spec": spec} if "spec" in document else {})


def as_a_server_shows(document: Json) -> Json:
    """Add what an API server and the controllers have written since."""
    fields: Json = {"f:status": {"f:conditions": {'k:{"type":"QuotaReserved"}': {".": {}}}}}
    manager = {"manager": "m", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields}
    seen: Json = {"resourceVersion": "918273", "generation": 4, "managedFields": [manager]}
    seen["finalizers"] = ["kueue.x-k8s.io/resource-in-use"]
    found = document | {"metadata": seen | document.get("metadata", {})}
    if document["kind"] == "ClusterQueue":
        amounts = [{"name": "default", "resources": [{"name": "cpu", "total": "7"}]}]
        found["status"] = {"flavorsUsage": amounts, "flavorsReservation": amounts}
        found["status"] |= {"pendingWorkloads": 3, "fairSharing": {"weightedShare": 250}}
    if document["kind"] == "Workload":
        for pod_set in document["spec"]["podSets"]:
            pod: Json = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
            pod |= {"volumes": [{"name": "v", "emptyDir": {}}], "securityContext": {}}
            pod_set["template"]["spec"] = pod | pod_set["template"]["spec"]
    return found


def as_the_older_version(document: Json) -> Json:
    return dict(convert(document, f"{KUEUE}/v1beta1")) if is_kueues(document) else document


def as_a_list(documents: list[Json]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})


def one_per_line(documents: list[Json]) -> str:
    return "\n".join(map(json.dumps, documents))


def backwards(documents: list[Json]) -> str:
    return "---\r\n".join(yaml.safe_dump(one, line_break="\r\n") for one in reversed(documents))


@pytest.mark.parametrize(
    ("form", "bundle"),
    [
        pytest.param(as_a_program_marshals, one_per_line, id="as a program marshals them"),
        pytest.param(as_a_server_shows, as_a_list, id="as a server shows them"),
        pytest.param(as_the_older_version, backwards, id="in the older version"),
    ],
)
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SOME])
def test_the_form_of_the_manifests_changes_nothing(
    path: Path, form: Callable[[Json], Json], bundle: Callable[[list[Json]], str]
) -> None:
    scenario = load_scenario(path)
    written = bundle([form(one.value) for one in scenario.documents()])
    got = run_scenario(replace(scenario, page=replace(scenario.page, value={}), manifests=written))
    assert (got["rounds"], got["usage"]) == (scenario.want["rounds"], scenario.want["usage"])
