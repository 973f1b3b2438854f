from pathlib import Path

import pytest

from queueing.sim.documents import load, parse, spell
from queueing.sim.yaml_text import ManifestError

TWO = """\
apiVersion: v1
kind: Namespace
metadata: {name: one}
---
# nothing here
---
apiVersion: batch/v1
kind: Job
metadata:
  name: two
  namespace: team
spec:
  parallelism: 3
"""


def test_objects_that_a_server_would_name_are_numbered(tmp_path: Path) -> None:
    text = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: train-}\n"
    (tmp_path / "jobs.yaml").write_text(f"{text}---\n{text}")
    assert [one.name for one in load([str(tmp_path)])] == ["train-1", "train-2"]


def test_every_document_knows_its_place() -> None:
    one, two = parse(TWO, file="two.yaml")
    assert (one.title, one.line) == ("Namespace one", 1)
    assert (two.title, two.line, two.group) == ("Job team/two", 7, "batch")
    assert two.line_at(["spec", "parallelism"]) == 13
    assert two.line_at(["spec", "template", "spec"]) == 13, "the closest thing that is written"


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("apiVersion: v1\nkind: List\n", id="a List"),
        pytest.param("apiVersion: v1\nkind: NamespaceList\n", id="a typed list"),
    ],
)
def test_lists_are_taken_apart(header: str) -> None:
    text = (
        header
        + "items:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"
        + "- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n"
    )
    assert [one.name for one in parse(text, file="f")] == ["a", "b"]
    assert [one.line for one in parse(text, file="f")] == [4, 5]


def test_items_of_a_typed_list_need_no_type_of_their_own() -> None:
    text = "apiVersion: v1\nkind: NamespaceList\nitems: [{metadata: {name: a}}]\n"
    assert [one.title for one in parse(text, file="f")] == ["Namespace a"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("- a\n", "f:1: a document must be an object", id="a list at the top"),
        pytest.param("kind: A\n", "f:1: apiVersion: required", id="no apiVersion"),
        pytest.param("apiVersion: v1\nkind: 3\n", "f:1: kind: required", id="a kind of 3"),
        pytest.param(
            "apiVersion: v1\nkind: A\nmetadata: x\n", "f:1: metadata: must", id="metadata"
        ),
        pytest.param("apiVersion: v1\nkind: List\nitems: x\n", "f:1: items: must", id="items"),
    ],
)
def test_what_is_no_object_is_refused(text: str, want: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(text, file="f")
    assert str(caught.value).startswith(want)


def test_a_folder_is_read_in_order_of_names(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "c.txt"):
        (tmp_path / name).write_text(
            f'{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "{name}"}}}}'
        )
    assert [one.name for one in load([str(tmp_path)])] == ["a.json", "b.yaml"]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"gone\.yaml: No such file"):
        load([str(tmp_path / "gone.yaml")])
    with pytest.raises(ManifestError, match="the folder holds no"):
        load([str(tmp_path)])
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(ManifestError, match=r"latin\.yaml:2: not UTF-8"):
        load([str(tmp_path / "latin.yaml")])


def test_paths_are_spelled_as_kubernetes_spells_them() -> None:
    assert spell(["spec", "podSets", 0, "count"]) == "spec.podSets[0].count"
