"""When who waits will be admitted, as `queueing explain --eta` tells."""

import json
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs

import pytest
from click.testing import CliRunner

from queueing.cli.main import cli
from queueing.cli.prospects import asked_for, written
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, KubeError, LostError, NotFoundError
from queueing.kube.request import Request
from queueing.serving.frames import Subject
from tests.cli.manifests import queues
from tests.serving.ui import samples

NOW = "2026-01-01T01:00:00Z"
QUEUES = queues("vision", 4, "main", "beside")
ADMISSION = {
    "clusterQueue": "vision",
    "podSetAssignments": [
        {"name": "main", "count": 1, "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "4"}}
    ],
}


def since(kind: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": "True",
        "reason": "Admitted",
        "message": "",
        "lastTransitionTime": NOW,
    }


def workload(name: str, made: int, *, at_most: int | None, queue: str = "main", runs: bool) -> str:
    """Return a Workload of 4 cpu; `at_most` is how many seconds it may run."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "4"}}}
    pods = {"restartPolicy": "Never", "containers": [container]}
    spec: dict[str, Any] = {
        "queueName": queue,
        "podSets": [{"name": "main", "count": 1, "template": {"spec": pods}}],
    }
    if at_most is not None:
        spec["maximumExecutionTimeSeconds"] = at_most
    status = {"admission": ADMISSION, "conditions": [since("QuotaReserved"), since("Admitted")]}
    metadata = {"name": name, "namespace": "team", "creationTimestamp": f"2026-01-01T00:00:{made}Z"}
    return json.dumps(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": metadata,
            "spec": spec,
            "status": status if runs else {},
        }
    )


def explained(tmp_path: Path, *words: str, at_most: int | None) -> str:
    """Return what is printed of a queue with one that runs, and three that wait."""
    file = tmp_path / "objects.yaml"
    documents = [QUEUES, workload("runs", 10, at_most=at_most, runs=True)]
    for number, queue_name in enumerate(("main", "beside", "main")):
        one = workload(f"w{number}", 20 + number, at_most=at_most, queue=queue_name, runs=False)
        documents.append(one)
    file.write_text("\n---\n".join(documents))
    command = ["explain", *words, "--eta", "-f", str(file), "--now", NOW]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_first_of_a_queue_are_told_when_in_their_order(tmp_path: Path) -> None:
    lines = explained(tmp_path, "clusterqueue/vision", at_most=600).splitlines()
    at = lines.index(f"When the first 3 of the line are admitted, as of {NOW}:")
    assert lines[at + 1].split() == ["PLACE", "WORKLOAD", "LIKELY", "NEARLY", "SURELY"]
    rows = [one.split() for one in lines[at + 2 : at + 5]]
    assert [one[:2] for one in rows] == [["1", "team/w0"], ["2", "team/w1"], ["3", "team/w2"]]
    assert all(one[2] == "in" for one in rows)
    assert lines[at + 5].startswith("  - ")
    assert lines[at + 5].endswith("drawn from a maximum execution time")


def test_estimates_of_a_local_queue_are_by_name_for_programs(tmp_path: Path) -> None:
    told = json.loads(explained(tmp_path, "lq/main", "-n", "team", "-o", "json", at_most=600))
    found = told["estimates"]
    assert list(found) == ["team/w0", "team/w2"]
    assert all(one["known"] and one["half"]["earliest"] >= NOW for one in found.values())
    assert found["team/w0"]["half"]["latest"] <= found["team/w2"]["half"]["earliest"]


def test_what_is_not_known_of_a_queue_is_unknown(tmp_path: Path) -> None:
    told = explained(tmp_path, "clusterqueue/vision", at_most=None)
    rows = [one.split() for one in told.splitlines() if " team/w" in one and "first:" not in one]
    assert [one[1:] for one in rows] == [[f"team/w{n}", "unknown", "unknown"] for n in range(3)]
    assert "Unknown: it is admitted in too few of the futures that were looked at." in told


def test_of_a_queue_in_which_nobody_waits_nobody_is_told(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(QUEUES)
    result = CliRunner().invoke(cli, ["explain", "cq/vision", "--eta", "-f", str(file)])
    assert result.stdout.splitlines()[-1] == "When: nobody waits."


def test_that_those_who_wait_may_not_be_tried_yet_is_told() -> None:
    assert written({}, pending=2) == "When: nobody who waits may be tried yet."


class Answering:
    """A client to whose requests there is one answer."""

    def __init__(self, answer: bytes | KubeError) -> None:
        self._answer = answer
        self.requests: list[Request] = []

    async def send(self, request: Request) -> bytes:
        self.requests.append(request)
        if isinstance(self._answer, KubeError):
            raise self._answer
        return self._answer


async def test_the_controller_is_asked_for_the_first_ten_of_a_queue() -> None:
    one = {"known": False, "text": "Unknown.", "asOf": NOW}
    body = {"kind": "LineEstimates", "apiVersion": "v", "estimates": {"team/w": one}}
    client = Answering(json.dumps(body).encode())
    answer = await asked_for(
        cast("Client", client), Subject("clusterqueues", "vision"), samples.queue()
    )
    (request,) = client.requests
    path, _, window = request.path.partition("?")
    assert path == "/apis/visibility.queueing.dev/v1alpha1/clusterqueues/vision/estimate"
    assert parse_qs(window) == {"part": ["waiting"], "offset": ["0"], "limit": ["10"]}
    found = getattr(answer, "estimates", None)
    assert found is not None
    assert found["team/w"].text == "Unknown."


@pytest.mark.parametrize("kind", [ForbiddenError, LostError, NotFoundError])
@pytest.mark.parametrize("answer", [samples.workload(), samples.queue()], ids=["workload", "queue"])
async def test_without_an_estimate_the_explanation_stands(
    kind: type[KubeError], answer: object, capsys: pytest.CaptureFixture[str]
) -> None:
    client = cast("Client", Answering(kind("not for you")))
    assert await asked_for(client, Subject("workloads", "team/mine"), answer) == answer  # type: ignore[arg-type]
    told = capsys.readouterr().err
    assert told == "Warning: nobody says when it will be admitted: not for you\n"
