from typing import Any

import pytest

from queueing.apiserver.change.apply_patch import path_text
from queueing.apiserver.change.field_paths import all_fields, differences, flat, nested
from queueing.apiserver.schema.structure import Structure

SCHEMA: dict[str, Any] = {
    "properties": {
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"properties": {"name": {}, "size": {}}},
        },
        "words": {"type": "array", "x-kubernetes-list-type": "set"},
        "atoms": {"type": "array"},
    }
}
VALUE: dict[str, Any] = {
    "parts": [{"name": "a", "size": 1}],
    "words": ["x"],
    "atoms": ["y"],
    "map": {"k": "v"},
}


def test_fields_flatten_and_nest_to_the_same() -> None:
    fields = all_fields(Structure(SCHEMA), VALUE)
    assert nested(flat(fields)) == fields
    assert fields["f:parts"] == {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:size": {}}}
    assert (fields["f:words"], fields["f:atoms"]) == ({'v:"x"': {}}, {})


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param({}, set(), id="nothing"),
        pytest.param({"atoms": ["z"]}, {(".atoms", True)}, id="an atomic list is one field"),
        pytest.param(
            {"parts": [{"name": "a", "size": 2}]},
            {('.parts[name="a"].size', True)},
            id="an element is found by its key",
        ),
        pytest.param(
            {"words": ["y"]},
            {('.words[="y"]', True), ('.words[="x"]', False)},
            id="words of a set come and go",
        ),
    ],
)
def test_differences_name_what_changed(change: Any, want: Any) -> None:
    found = differences(Structure(SCHEMA), VALUE, {**VALUE, **change})
    assert {(path_text(path), present) for path, present in found} == want
