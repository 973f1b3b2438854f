"""kubectl, as built for these tests, on the embedded server."""

from collections.abc import Iterator

import pytest

from e2e.controlplane.build import Binaries
from tests.conformance.cases import kubectl
from tests.conformance.embedded import embedded
from tests.conformance.gather import gathered
from tests.conformance.harness import Remote, Server, case

globals().update(gathered(kubectl))


@pytest.fixture(scope="module")
def remote(built: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    with embedded(tmp_path_factory.mktemp("kubectl"), built.command("kubectl")) as lent:
        yield lent


@pytest.fixture
def server(remote: Remote) -> Iterator[Server]:
    with case(remote) as lent:
        yield lent
