"""The TLS identity that the ports share: exchanged while they serve, without a restart."""

import asyncio
import logging
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from queueing.kube.errors import KubeError
from queueing.serving.aggregator import Aggregator
from queueing.serving.certificates import Certificates

logger = logging.getLogger(__name__)

TURN_S = 10.0
PRIVATE = 0o600


class Identity:
    """TLS contexts whose certificate can change; `present` is False until there is one."""

    def __init__(self, folder: Path, aggregator: Aggregator) -> None:
        self.present = False
        self.authority = b""
        """Who signed the certificate; empty when that is not known."""
        self.plain = _context()
        self.aggregated = _context()
        aggregator.trust(self.aggregated)
        self._folder = folder

    def use(self, held: Certificates) -> None:
        """Serve with this certificate from the next connection on.

        `ssl` reads certificates from files only, so they pass through a private folder.
        """
        certificate, key = self._folder / "tls.crt", self._folder / "tls.key"
        for file, text in ((certificate, held.certificate), (key, held.key)):
            file.touch(PRIVATE)
            file.write_bytes(text)
        self.load(certificate, key)
        key.unlink()
        self.authority = held.ca

    def load(self, certificate: Path, key: Path) -> None:
        """Serve with the certificate of two files from the next connection on."""
        for context in (self.plain, self.aggregated):
            context.load_cert_chain(certificate, key)
        self.present = True


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


@contextmanager
def private_folder(place: Path) -> Iterator[Path]:
    """Give a folder in a place that nobody else can read, gone at the end."""
    with tempfile.TemporaryDirectory(dir=place, prefix="tls-") as name:
        yield Path(name)


async def follow_files(
    identity: Identity, folder: Path, trust: Callable[[bytes], Awaitable[None]]
) -> None:
    """Serve the certificate of a folder that somebody else (cert-manager, say) renews.

    Where the folder also holds the CA (`ca.crt`), the API server is told to `trust` it.
    """
    seen: tuple[int, ...] = ()
    certificate, key = folder / "tls.crt", folder / "tls.key"
    while True:
        try:
            stamps = await asyncio.to_thread(_stamps, certificate, key)
            if stamps != seen:
                identity.load(certificate, key)
                seen = stamps
                logger.info("serving with the certificate of %s", folder)
            authority = await asyncio.to_thread(_text, folder / "ca.crt")
            identity.authority = authority
            if authority:
                await trust(authority)
        except (OSError, ssl.SSLError, KubeError) as error:
            logger.warning("the certificate in %s cannot be used yet: %s", folder, error)
        await asyncio.sleep(TURN_S)


def _text(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def _stamps(*files: Path) -> tuple[int, ...]:
    return tuple(file.stat().st_mtime_ns for file in files)
