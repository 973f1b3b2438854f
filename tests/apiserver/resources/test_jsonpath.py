from typing import Any

import pytest

from queueing.apiserver.resources.catalog import version_rank
from queueing.apiserver.resources.jsonpath import values

TREE: dict[str, Any] = {
    "status": {
        "conditions": [{"type": "A", "status": "False"}, {"type": "Ready", "status": "True"}],
        "on": True,
    },
    "metadata": {"labels": {"a.b/c": "x"}},
}


@pytest.mark.parametrize(
    ("path", "want"),
    [
        (".status.on", [True]),
        ("{.status.on}", [True]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        ('.status.conditions[?(@.type!="Ready")].status', ["False"]),
        (".status.conditions[*].type", ["A", "Ready"]),
        (".status.conditions[-1].type", ["Ready"]),
        (".status.conditions[7].type", []),
        (r".metadata.labels.a\.b/c", []),
        (".metadata.labels['a.b/c']", ["x"]),
        (".nothing.here", []),
        ("!broken", []),
    ],
)
def test_paths(path: str, want: list[Any]) -> None:
    assert values(TREE, path) == want


def test_versions_are_ranked_as_kubernetes_does() -> None:
    names = ["v1alpha1", "foo", "v2", "v1beta1", "v1", "v1beta2", "v10"]
    assert sorted(names, key=version_rank) == [
        "v10",
        "v2",
        "v1",
        "v1beta2",
        "v1beta1",
        "v1alpha1",
        "foo",
    ]
