"""The TLS identity that the ports share: exchanged while they serve, without a restart."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from queueing.kube.errors import KubeError
from queueing.kube.pem import present
from queueing.serving.aggregator import Aggregator
from queueing.serving.certificates import Certificates
from queueing.serving.tls_settings import USUAL, TlsSettings

logger = logging.getLogger(__name__)

TURN_S = 10.0


class Identity:
    """TLS contexts whose certificate can change; `present` is False until there is one."""

    def __init__(self, accepted: TlsSettings = USUAL) -> None:
        """Begin without a certificate."""
        self.present = False
        self.authority = b""
        """Who signed the certificate; empty when that is not known."""
        self.plain = accepted.context()
        self.aggregated = accepted.context()
        self._aggregator = Aggregator()

    def believe(self, aggregator: Aggregator) -> None:
        """Ask for the aggregator's certificate from the next connection on."""
        aggregator.trust(self.aggregated)
        self._aggregator = aggregator

    def is_aggregator(self, request: web.Request) -> bool:
        """Say whether a request came over a connection of the aggregator."""
        return self._aggregator.is_caller(request)

    def use(self, held: Certificates) -> None:
        """Serve with this certificate from the next connection on."""
        self.load(held.certificate, held.key)
        self.authority = held.ca

    def load(self, certificate: bytes, key: bytes) -> None:
        """Serve with a certificate chain and its key, both in PEM, from the next connection on."""
        for context in (self.plain, self.aggregated):
            present(context, certificate, key)
        self.present = True


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
                texts = [await asyncio.to_thread(_text, file) for file in (certificate, key)]
                identity.load(*texts)
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
