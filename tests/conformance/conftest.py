"""The embedded server as the suite's subject."""

import shutil
from collections.abc import Iterator

import pytest

from tests.conformance.embedded import embedded
from tests.conformance.harness import Remote, Server, case


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    with embedded(tmp_path_factory.mktemp("kubectl"), shutil.which("kubectl") or "kubectl") as lent:
        yield lent


@pytest.fixture
def server(remote: Remote) -> Iterator[Server]:
    with case(remote) as lent:
        yield lent
