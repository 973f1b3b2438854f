"""What is asked of a controller for `queueing explain`."""

from typing import cast

import pytest

from queueing.cli.explanations import estimate_at
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, KubeError, LostError, NotFoundError
from queueing.kube.request import Request


class Refusing:
    """A client whose requests all fail."""

    def __init__(self, error: KubeError) -> None:
        self._error = error

    async def send(self, _request: Request) -> bytes:
        raise self._error


@pytest.mark.parametrize("kind", [ForbiddenError, LostError, NotFoundError])
async def test_without_an_estimate_the_explanation_stands(
    kind: type[KubeError], capsys: pytest.CaptureFixture[str]
) -> None:
    client = cast("Client", Refusing(kind("not for you")))
    assert await estimate_at(client, "namespaces/team/workloads/w") is None
    told = capsys.readouterr().err
    assert told == "Warning: nobody says when it will be admitted: not for you\n"
