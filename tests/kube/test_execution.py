"""Commands in containers, against a server that speaks as a kubelet does."""

import pytest
from aiohttp import web

from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import ForbiddenError, LostError, NotFoundError
from queueing.kube.execution import OUTPUT_MAX, CommandResult, ExecTarget, execute
from tests.kube.kubelet import SUCCESS, Behave, attend, failure, listening, says

PLACE = ExecTarget(namespace="team", pod="train-0", container="main")


async def ran(behave: Behave) -> tuple[CommandResult, list[web.Request]]:
    seen: list[web.Request] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return await attend(request, behave)

    async with listening(handler) as url, Client(Cluster.plain(url)) as client:
        begun: list[bool] = []
        ended = await execute(client, PLACE, ["save", "--to", "a b&c"], lambda: begun.append(True))
        assert begun == [True]
    return ended, seen


async def test_a_command_is_run_and_its_outputs_are_kept_apart() -> None:
    ended, (request,) = await ran(says(b"\x01s3://", b"\x02slow", b"\x01b/1\n", SUCCESS))
    assert ended == CommandResult(code=0, output="s3://b/1\n", errors="slow")
    assert request.path == "/api/v1/namespaces/team/pods/train-0/exec"
    assert request.query.getall("command") == ["save", "--to", "a b&c"]
    assert request.query["container"] == "main"
    assert "stdin" not in request.query


@pytest.mark.parametrize(
    ("frames", "code", "message"),
    [
        pytest.param([failure(3)], 3, "exit status 3", id="a code"),
        pytest.param(
            [b'\x03{"status":"Failure","message":"no such container"}'],
            1,
            "no such container",
            id="without a code",
        ),
    ],
)
async def test_a_command_that_fails_says_how(frames: list[bytes], code: int, message: str) -> None:
    ended, _ = await ran(says(*frames))
    assert ended.code == code
    assert message in ended.message


async def test_of_much_output_the_end_is_kept() -> None:
    flood = [b"\x01" + b"x" * 50_000, b"\x01" + b"y" * 50_000 + b"end"]
    ended, _ = await ran(says(b"", b"\x09?", *flood, SUCCESS))
    assert len(ended.output) == OUTPUT_MAX
    assert ended.output.endswith("yend")


@pytest.mark.parametrize(
    "frames", [pytest.param([b"\x01half"], id="no end"), pytest.param([b"\x03{"], id="nonsense")]
)
async def test_a_connection_that_breaks_is_no_success(frames: list[bytes]) -> None:
    with pytest.raises(LostError):
        await ran(says(*frames))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(403, ForbiddenError, id="no permission"),
        pytest.param(404, NotFoundError, id="no pod"),
    ],
)
async def test_a_refusal_is_told_by_its_status(status: int, error: type[Exception]) -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "Status", "message": "no"}, status=status)

    async with listening(handler) as url, Client(Cluster.plain(url)) as client:
        with pytest.raises(error):
            await execute(client, PLACE, ["save"], lambda: None)
