"""The embedded server as the suite's subject: it runs on a loop of its own, in a thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from queueing.apiserver.server import EmbeddedServer, serve
from tests.conformance.harness import Remote, prepare


class Running:
    """A server in a thread, until `stop`."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end: asyncio.Event | None = None
        self.server: EmbeddedServer | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        async with serve() as self.server:
            self._ready.set()
            await self._end.wait()

    def stop(self) -> None:
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)


@contextmanager
def embedded(folder: Path, kubectl: str) -> Iterator[Remote]:
    """Lend an embedded server with the suite's kinds on it."""
    running = Running()
    assert running.server is not None
    config = folder / "kubeconfig"
    config.write_text(running.server.kubeconfig())
    words = (kubectl, f"--kubeconfig={config}", f"--cache-dir={folder / 'cache'}")
    lent = Remote(running.server.url, kubectl=words)
    prepare(lent)
    yield lent
    lent.close()
    running.stop()
