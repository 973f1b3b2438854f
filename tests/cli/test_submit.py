"""`queueing submit` in a trace: printed only, without a cluster."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from queueing.cli.main import cli

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-11111111111111111111111111111111-2222222222222222-01"
COMMAND = ["-q", "main", "--image", "busybox", "-r", "cpu=1", "--name", "a", "--", "true"]
MANIFEST = """
apiVersion: batch/v1
kind: Job
metadata: {name: a, annotations: {note: x}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}
"""


def submitted(*words: str, trace: str) -> dict[str, Any]:
    """Return what would be submitted by who is in a trace."""
    flags = ["submit", "--dry-run", "client", "-o", "json"]
    done = CliRunner().invoke(cli, [*flags, *words], env={"TRACEPARENT": trace})
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.output)["items"]
    job: dict[str, Any] = found
    return job


def environment(job: dict[str, Any]) -> dict[str, str]:
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return {
        one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in container.get("env", ())
    }


def test_a_command_goes_on_with_the_trace_of_who_submits_it() -> None:
    job = submitted(*COMMAND, trace=TRACE)
    assert job["metadata"]["annotations"] == {"traceparent": TRACE}
    assert environment(job) == {"TRACEPARENT": "metadata.annotations['traceparent']"}


@pytest.mark.parametrize("trace", ["", "nonsense"])
def test_without_a_trace_nothing_is_added(trace: str) -> None:
    job = submitted(*COMMAND, trace=trace)
    assert "annotations" not in job["metadata"]
    assert environment(job) == {}


@pytest.mark.parametrize(
    ("own", "want"),
    [
        pytest.param("note: x", TRACE, id="the submitter's"),
        pytest.param(f"traceparent: {OTHER}", OTHER, id="the manifest's own"),
    ],
)
def test_a_manifest_keeps_its_containers_and_its_own_trace(
    tmp_path: Path, own: str, want: str
) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(MANIFEST.replace("note: x", own))
    job = submitted("-q", "main", "-f", str(path), trace=TRACE)
    assert job["metadata"]["annotations"]["traceparent"] == want
    assert environment(job) == {}
