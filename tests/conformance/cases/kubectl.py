"""kubectl against the server: what people type."""

import json
from pathlib import Path

import pytest

from tests.conformance.harness import Server

GADGET = """
apiVersion: conformance.example.com/v1
kind: Gadget
metadata: {name: one}
spec: {size: 4, color: red}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: one}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "registry.example.com/work:1"}]
"""


def shown(server: Server, *words: str) -> object:
    return json.loads(server.kubectl("get", *words, "-o", "json"))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param((), ("created", "unchanged", "configured"), id="client side"),
        pytest.param(("--server-side",), ("serverside-applied",) * 3, id="server side"),
    ],
)
def test_apply_creates_keeps_and_changes(
    server: Server, flags: tuple[str, ...], words: tuple[str, ...]
) -> None:
    texts = (GADGET, GADGET, GADGET.replace("size: 4", "size: 5"))
    for text, word in zip(texts, words, strict=True):
        assert word in server.kubectl("apply", *flags, "-f", "-", stdin=text)
    assert server.call("GET", f"{server.gadgets}/one")["spec"]["size"] == 5


def test_apply_removes_what_left_the_manifest(server: Server) -> None:
    server.kubectl("apply", "-f", "-", stdin=GADGET)
    server.kubectl("apply", "-f", "-", stdin=GADGET.replace(", color: red", ""))
    assert "color" not in server.call("GET", f"{server.gadgets}/one")["spec"]


def test_apply_of_a_job_merges_by_its_types(server: Server) -> None:
    server.kubectl("apply", "-f", "-", stdin=JOB)
    wider = JOB.replace("suspend: true", "suspend: true\n  parallelism: 3")
    assert "configured" in server.kubectl("apply", "-f", "-", stdin=wider)
    found = server.call("GET", f"{server.jobs}/one")["spec"]
    assert (found["parallelism"], len(found["template"]["spec"]["containers"])) == (3, 1)


def test_apply_refuses_unknown_fields(server: Server) -> None:
    text = GADGET.replace("size: 4", "nonsense: 4")
    said = server.kubectl("apply", "-f", "-", stdin=text, fails=True)
    assert 'unknown field "spec.nonsense"' in said


def test_apply_shows_what_the_schema_refuses(server: Server) -> None:
    text = GADGET.replace("red", "pink")
    said = server.kubectl("apply", "-f", "-", stdin=text, fails=True)
    assert 'spec.color: Unsupported value: "pink"' in said


def test_create_says_that_it_exists(server: Server) -> None:
    server.kubectl("create", "-f", "-", stdin=GADGET)
    assert "AlreadyExists" in server.kubectl("create", "-f", "-", stdin=GADGET, fails=True)


def test_get_prints_columns(server: Server) -> None:
    server.kubectl("create", "-f", "-", stdin=GADGET)
    lines = server.kubectl("get", "gd").splitlines()
    assert lines[0].split() == ["NAME", "SIZE", "COLOR", "READY", "AGE", "WHEN"]
    assert lines[1].split()[:3] == ["one", "4", "red"]
    assert "MODE" in server.kubectl("get", "gadgets", "-o", "wide")


def test_get_of_nothing_says_so(server: Server) -> None:
    assert "No resources found" in server.kubectl("get", "gadgets")
    assert "NotFound" in server.kubectl("get", "gadget", "none", fails=True)


def test_get_prints_names_by_label(server: Server) -> None:
    server.gadget("a", labels={"x": "1"})
    server.gadget("b", labels={"x": "2"})
    said = server.kubectl("get", "gadget.conformance.example.com", "-l", "x=2", "-o", "name")
    assert said.split() == ["gadget.conformance.example.com/b"]


def test_get_prints_a_path(server: Server) -> None:
    server.gadget(spec={"size": 4})
    assert server.kubectl("get", "gadget", "one", "-o", "jsonpath={.spec.size}") == "4"


def test_get_reads_a_category(server: Server) -> None:
    server.gadget()
    assert server.kubectl("get", "conformance").splitlines()[1].startswith("one")


def test_describe_prints_a_gadget(server: Server) -> None:
    server.gadget(spec={"color": "red"})
    said = server.kubectl("describe", "gadget", "one")
    assert "Kind:         Gadget" in said
    assert "Color:  red" in said


def test_describe_prints_a_job_with_its_events(server: Server) -> None:
    server.kubectl("create", "-f", "-", stdin=JOB)
    said = server.kubectl("describe", "job", "one")
    assert "Suspend:          true" in said
    assert "Events:" in said


@pytest.mark.parametrize("kind", ["gadget", "job"])
def test_labels_are_set_and_removed(server: Server, kind: str) -> None:
    server.kubectl("create", "-f", "-", stdin=GADGET if kind == "gadget" else JOB)
    server.kubectl("label", kind, "one", "a=b")
    assert shown(server, kind, "-l", "a=b")["items"]  # type: ignore[index]
    assert "already has a value" in server.kubectl("label", kind, "one", "a=c", fails=True)
    server.kubectl("label", kind, "one", "a-")
    assert not shown(server, kind, "-l", "a=b")["items"]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["gadget", "job"])
def test_annotations_are_set(server: Server, kind: str) -> None:
    server.kubectl("create", "-f", "-", stdin=GADGET if kind == "gadget" else JOB)
    assert "annotated" in server.kubectl("annotate", kind, "one", "note=x")


@pytest.mark.parametrize(
    ("kind", "change", "want"),
    [
        pytest.param("gadget", "s/size: 4/size: 9/", "{.spec.size}=9", id="a gadget"),
        pytest.param(
            "job", "s/parallelism: 1/parallelism: 9/", "{.spec.parallelism}=9", id="a job"
        ),
    ],
)
def test_edit_stores_what_the_editor_wrote(
    server: Server, tmp_path: Path, kind: str, change: str, want: str
) -> None:
    server.kubectl("create", "-f", "-", stdin=GADGET if kind == "gadget" else JOB)
    script = tmp_path / "editor"
    script.write_text(f"#!/bin/sh\nsed -i '{change}' \"$1\"\n")
    script.chmod(0o755)
    assert "edited" in server.kubectl("edit", kind, "one", EDITOR=str(script))
    path, _, value = want.partition("=")
    assert server.kubectl("get", kind, "one", "-o", f"jsonpath={path}") == value


@pytest.mark.parametrize("kind", ["merge", "json"])
def test_patches(server: Server, kind: str) -> None:
    server.gadget(spec={"size": 1})
    text = '{"spec":{"size":2}}'
    if kind == "json":
        text = '[{"op":"replace","path":"/spec/size","value":2}]'
    server.kubectl("patch", "gadget", "one", f"--type={kind}", "-p", text)
    assert server.call("GET", f"{server.gadgets}/one")["spec"]["size"] == 2


def test_a_status_is_patched(server: Server) -> None:
    server.gadget()
    patch = '{"status":{"phase":"x"}}'
    words = ("patch", "gadget", "one", "--subresource=status", "--type=merge", "-p", patch)
    server.kubectl(*words)
    assert server.call("GET", f"{server.gadgets}/one")["status"] == {"phase": "x"}


def test_scale_sets_replicas(server: Server) -> None:
    server.gadget(spec={"replicas": 1})
    server.kubectl("scale", "gadget", "one", "--replicas=4")
    assert server.call("GET", f"{server.gadgets}/one")["spec"]["replicas"] == 4


def test_wait_sees_a_condition(server: Server) -> None:
    server.gadget()
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    server.merge(f"{server.gadgets}/one/status", ready)
    said = server.kubectl("wait", "--for=condition=Ready", "gadget/one", "--timeout=20s")
    assert "condition met" in said


def test_wait_sees_a_value(server: Server) -> None:
    server.gadget(spec={"size": 3})
    words = ("wait", "--for=jsonpath={.spec.size}=3", "gadget/one", "--timeout=20s")
    assert "condition met" in server.kubectl(*words)


def test_delete_waits_for_the_end(server: Server) -> None:
    server.gadget()
    assert "deleted" in server.kubectl("delete", "gadget", "one")
    assert server.call("GET", f"{server.gadgets}/one").status == 404


def test_delete_takes_all(server: Server) -> None:
    server.gadget("a")
    server.gadget("b")
    server.kubectl("delete", "gadgets", "--all")
    assert server.call("GET", server.gadgets)["items"] == []


def test_explain_prints_the_schema(server: Server) -> None:
    said = server.kubectl("explain", "gadget.spec")
    assert "What is wanted of the gadget." in said
    assert "color" in said
    assert "How big the gadget is." in said


def test_explain_knows_jobs(server: Server) -> None:
    said = server.kubectl("explain", "job.spec.template.spec.containers.image")
    assert "FIELD: image <string>" in said


def test_api_resources_list_our_kind(server: Server) -> None:
    said = server.kubectl("api-resources", "--api-group=conformance.example.com")
    assert "gadgets" in said
    assert "gd" in said


def test_diff_shows_a_change(server: Server) -> None:
    server.kubectl("apply", "-f", "-", stdin=GADGET)
    text = GADGET.replace("size: 4", "size: 5")
    said = server.kubectl("diff", "-f", "-", stdin=text, fails=True)
    assert "+  size: 5" in said


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("configmap", "c", "--from-literal=a=b"), id="configmap"),
        pytest.param(("secret", "generic", "s", "--from-literal=a=b"), id="secret"),
        pytest.param(("serviceaccount", "x"), id="serviceaccount"),
        pytest.param(("quota", "q", "--hard=pods=9"), id="quota"),
        pytest.param(("job", "j", "--image=registry.example.com/x:1"), id="job"),
    ],
)
def test_create_makes_common_kinds(server: Server, words: tuple[str, ...]) -> None:
    assert "created" in server.kubectl("create", *words)


def test_access_is_asked_for(server: Server) -> None:
    assert server.kubectl("auth", "can-i", "get", "pods").strip() == "yes"
