from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from queueing_api.batch.v1 import Job
from queueing_api.kueue import v1beta1, v1beta2
from queueing_api.kueue.v1beta2.local_queue import LocalQueueSpec
from queueing_api.meta.v1 import KubeObject, ObjectMeta
from queueing_api.scheme import SCHEME, UnknownKindError, decode, gvk_of

Objects = Callable[[type[KubeObject]], st.SearchStrategy[dict[str, Any]]]
MODELS = [getattr(version, kind) for version in (v1beta1, v1beta2) for kind in version.__all__]
EVERY_MODEL = pytest.mark.parametrize("model", MODELS, ids=lambda model: "/".join(model.gvk()[1:]))


@EVERY_MODEL
def test_an_object_is_written_as_it_was_read_with_what_nobody_knows(
    model: type[KubeObject], objects: Objects
) -> None:
    @given(objects(model))
    @settings(
        max_examples=10, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    def check(document: dict[str, Any]) -> None:
        assert decode(document).to_wire() == document

    check()


def queue(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def quota(**fields: Any) -> dict[str, Any]:
    resource = {"name": "cpu", "nominalQuota": "1", **fields}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [resource]}]}
    return queue(resourceGroups=[group])


def test_what_is_not_given_has_the_servers_default() -> None:
    spec = v1beta2.ClusterQueue.from_wire(queue()).spec
    assert spec.queueing_strategy == "BestEffortFIFO"
    assert spec.stop_policy == "None"
    assert spec.preemption.within_cluster_queue == "Never"
    assert spec.preemption.borrow_within_cohort.policy == "Never"
    assert spec.flavor_fungibility.when_can_borrow == "MayStopSearch"
    assert spec.namespace_selector is None


def test_defaults_are_not_written() -> None:
    assert v1beta2.ClusterQueue.from_wire(queue()).to_wire() == queue()


def test_null_is_read_as_absent() -> None:
    document = queue(cohortName=None, preemption={"withinClusterQueue": None})
    spec = v1beta2.ClusterQueue.from_wire(document).spec
    assert spec.cohort_name is None
    assert spec.preemption.within_cluster_queue == "Never"


def test_a_number_is_a_quantity_too() -> None:
    read = v1beta2.ClusterQueue.from_wire(quota(nominalQuota=4))
    assert read.spec.resource_groups[0].flavors[0].resources[0].nominal_quota == "4"


def test_an_object_made_in_python_can_be_applied() -> None:
    made = v1beta2.LocalQueue(
        metadata=ObjectMeta(name="a", namespace="team"), spec=LocalQueueSpec(cluster_queue="main")
    )
    assert made.to_wire() == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "a", "namespace": "team"},
        "spec": {"clusterQueue": "main"},
    }


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param(queue(queueingStrategy="LIFO"), "queueingStrategy", id="an unknown word"),
        pytest.param(queue(cohortName="Bad_Name"), "cohortName", id="a name that is none"),
        pytest.param(quota(nominalQuota="many"), "nominalQuota", id="a quantity that is none"),
        pytest.param(quota(nominalQuota=True), "nominalQuota", id="a truth as a quantity"),
        pytest.param(queue(stopPolicy=1), "stopPolicy", id="a number as a word"),
        pytest.param(queue(resourceGroups=[{}] * 17), "resourceGroups", id="too many groups"),
    ],
)
def test_what_the_schema_refuses_is_refused_naming_the_field(
    document: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        v1beta2.ClusterQueue.from_wire(document)
    assert any(field in error["loc"] for error in refused.value.errors())


def test_a_value_cannot_be_changed_by_accident() -> None:
    read = v1beta2.ClusterQueue.from_wire(queue())
    with pytest.raises(ValidationError, match="frozen"):
        setattr(read, "kind", "LocalQueue")  # noqa: B010 - type checkers know it already


def test_kubernetes_own_kinds_carry_what_we_do_not_read() -> None:
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}]}
    document = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "managedFields": [{"manager": "m"}]},
        "spec": {
            "suspend": True,
            "podFailurePolicy": {"rules": []},
            "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
        },
    }
    job = decode(document)
    assert isinstance(job, Job)
    assert job.spec.suspend
    assert job.spec.parallelism == 1
    assert job.spec.template.spec.containers[0].name == "c"
    assert job.to_wire() == document


def test_the_scheme_finds_each_model_by_its_own_name() -> None:
    assert all(model.gvk() == gvk for gvk, model in SCHEME.items())
    assert gvk_of({"apiVersion": "v1", "kind": "Pod"}) == ("", "v1", "Pod")
    assert ("kueue.x-k8s.io", "v1beta1", "Workload") in SCHEME


@pytest.mark.parametrize("document", [{}, {"apiVersion": "apps/v1", "kind": "Deployment"}])
def test_a_kind_without_a_model_is_refused_by_name(document: dict[str, Any]) -> None:
    with pytest.raises(UnknownKindError) as refused:
        decode(document)
    assert repr(document.get("kind", "")) in str(refused.value)
