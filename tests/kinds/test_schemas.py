"""A description held against the schema of its kind."""

from pathlib import Path
from typing import Any

import yaml

from queueing.kinds.compiler import Kind, compiled
from queueing.kinds.schemas import astray, schema_of
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

KINDS = Path(__file__).parents[2] / "examples" / "kinds"
Wire = dict[str, Any]


def loaded(name: str) -> Wire:
    found: Wire = yaml.safe_load((KINDS / f"{name}.yaml").read_text())
    return found


def kind(**changes: Any) -> Kind:
    spec = loaded("description")["spec"]
    return compiled(QueueableKindSpec.model_validate({**spec, **changes}))


def published() -> Wire:
    """Return the schemas of the example's definition as an API server publishes them."""
    (version,) = loaded("definition")["spec"]["versions"]
    named = {"group": "lab.example.com", "version": "v1", "kind": "Experiment"}
    schema = {**version["schema"]["openAPIV3Schema"], "x-kubernetes-group-version-kind": [named]}
    return {"components": {"schemas": {"com.example.lab.v1.Experiment": schema}}}


def told(one: Kind, document: Wire | None = None) -> list[str]:
    document = document or published()
    schema = schema_of(document, one)
    assert schema is not None
    return [str(found) for found in astray(one, schema, document)]


def test_the_example_reads_only_what_its_definition_has() -> None:
    assert told(kind()) == []


def test_a_misspelled_path_is_named_with_what_is_meant() -> None:
    pod_sets = [{"name": "main", "template": "spec.cordinator"}]
    (found,) = told(kind(podSets=pod_sets))
    assert found.startswith("spec.podSets[0].template: spec.cordinator is no field of the kind")
    assert "coordinator" in found


def test_fields_of_entries_and_of_states_are_held_against_it_too() -> None:
    rule = {"forEach": "spec.trials", "nameFrom": "item.name", "template": "podTemplate"}
    found = told(
        kind(
            podSets=[{**rule, "count": "item.?wrkers"}],
            active={"expression": "object.?status.pods.orValue(0) > 0"},
        )
    )
    assert [one.split(" is no field")[0] for one in found] == [
        "spec.podSets[0].count: spec.trials[*].wrkers",
        "spec.active.expression: status.pods",
    ]


def test_below_what_keeps_unknown_fields_anything_may_be() -> None:
    assert told(kind(priorityClass="spec.coordinator.spec.priorityClassName")) == []


def test_references_to_other_schemas_are_followed() -> None:
    document = published()
    schemas = document["components"]["schemas"]
    experiment = schemas["com.example.lab.v1.Experiment"]
    schemas["Spec"] = experiment["properties"]["spec"]
    experiment["properties"]["spec"] = {"allOf": [{"$ref": "#/components/schemas/Spec"}]}
    assert told(kind(), document) == []
    wrong = kind(podSets=[{"name": "main", "template": "spec.nothing"}])
    assert len(told(wrong, document)) == 1


def test_a_kind_that_the_document_does_not_have_has_no_schema() -> None:
    assert schema_of({"components": {"schemas": {}}}, kind()) is None
