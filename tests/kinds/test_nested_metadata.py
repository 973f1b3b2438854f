"""Objects within an object have metadata of their own, which a description may read and change."""

from typing import Any

import msgspec
import pytest

from queueing.kinds.compiler import compiled
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.starting import start
from queueing.translate.jobs.injection import ConflictError, Injection
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

RESOURCE = {"group": "lab.example.com", "version": "v1", "kind": "Study", "plural": "studies"}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
SIZE = "int(object.spec.job.?metadata.?annotations[?'size'].orValue('1'))"
PLACES = {
    "labels": "pod.metadata.labels",
    "annotations": "pod.metadata.annotations",
    "nodeSelector": "pod.nodeSelector",
    "tolerations": "pod.tolerations",
    "schedulingGates": "pod.schedulingGates",
}


def study(*pod_sets: dict[str, Any], **spec: Any) -> DescribedJob:
    description = {
        "resource": RESOURCE,
        "suspend": {"field": "spec.suspend"},
        "podSets": list(pod_sets),
        "active": {"expression": "false"},
        "finished": [{"condition": "Done", "outcome": "Succeeded"}],
    }
    kind = compiled(QueueableKindSpec.model_validate(description))
    meta = {"name": "s", "namespace": "team", "uid": "u", "resourceVersion": "1"}
    wire = {"metadata": meta, "spec": {"suspend": True, **spec}}
    return read_job(kind, msgspec.json.encode(wire), lambda _: None)


def counts(job: DescribedJob) -> dict[str, int]:
    assert not job.problem
    return {one.name: one.count for one in job.pod_sets}


def test_a_count_may_stand_in_annotations_of_an_inner_object() -> None:
    pod_set = {"name": "main", "template": "spec.job.template", "count": SIZE}
    job = {"metadata": {"annotations": {"size": "64"}}, "template": TEMPLATE}
    assert counts(study(pod_set, job=job)) == {"main": 64}


def test_pod_sets_may_have_the_names_of_inner_objects() -> None:
    pod_set = {"forEach": "spec.jobs", "nameFrom": "item.metadata.name", "template": "template"}
    jobs = [{"metadata": {"name": name}, "template": TEMPLATE} for name in ("a", "b")]
    assert counts(study(pod_set, jobs=jobs)) == {"a": 1, "b": 1}


def test_a_template_may_stand_in_metadata_of_an_inner_object() -> None:
    pod_set = {"name": "main", "template": "spec.metadata.template"}
    assert counts(study(pod_set, metadata={"template": TEMPLATE})) == {"main": 1}


def test_labels_of_users_in_an_inner_object_stay_when_it_is_started() -> None:
    pod_set = {
        "forEach": "spec.jobs",
        "nameFrom": "item.name",
        "template": "template",
        "places": PLACES,
    }
    inner = {"name": "a", "template": TEMPLATE, "pod": {"metadata": {"labels": {"mine": "1"}}}}
    made = study(pod_set, jobs=[inner]).source
    with pytest.raises(ConflictError):
        start(made, [Injection(labels={"mine": "2"})])


def test_an_entry_may_be_read_by_its_name_and_as_one_of_all() -> None:
    beside = {"name": "beside", "template": "spec.template", "count": "object.spec.roles.head.n"}
    each = {"forEach": "spec.roles", "keys": ["head"], "nameFrom": "key", "template": "template"}
    roles = {"head": {"template": TEMPLATE, "n": 3}}
    made = study(beside, {**each, "count": "item.n"}, template=TEMPLATE, roles=roles)
    assert counts(made) == {"beside": 3, "head": 3}
