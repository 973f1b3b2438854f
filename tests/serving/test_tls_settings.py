"""Handshakes in memory: what a server accepts of TLS is what the Configuration says."""

import ssl
from collections.abc import Sequence

import pytest

from queueing.serving.certificates import make
from queueing.serving.identity import Identity
from queueing.serving.tls_settings import TlsSettings

NOW = 1_790_000_000.0
STEPS = 10
GCM_128, GCM_256 = "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"
RSA_128, RSA_256 = "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"


def client(highest: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = highest
    return context


def shaken(accepted: TlsSettings, caller: ssl.SSLContext) -> tuple[str | None, str]:
    """Return the version and the cipher that both sides agree on; raises SSLError if on none."""
    identity = Identity(accepted)
    identity.use(make(("a",), NOW))
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        caller.wrap_bio(back, there),
        identity.plain.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(STEPS):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    cipher = sides[0].cipher()
    assert cipher is not None
    return sides[0].version(), cipher[0]


def test_by_default_tls_1_2_is_accepted() -> None:
    version, _ = shaken(TlsSettings(), client(ssl.TLSVersion.TLSv1_2))
    assert version == "TLSv1.2"


def test_an_older_client_than_the_lowest_version_is_refused() -> None:
    strict = TlsSettings(minimum=ssl.TLSVersion.TLSv1_3)
    with pytest.raises(ssl.SSLError):
        shaken(strict, client(ssl.TLSVersion.TLSv1_2))
    version, _ = shaken(strict, client(ssl.TLSVersion.TLSv1_3))
    assert version == "TLSv1.3"


@pytest.mark.parametrize(
    "names",
    [pytest.param((GCM_128, RSA_128), id="128"), pytest.param((GCM_256, RSA_256), id="256")],
)
def test_only_chosen_cipher_suites_are_accepted(names: Sequence[str]) -> None:
    _, cipher = shaken(TlsSettings(ciphers=tuple(names)), client(ssl.TLSVersion.TLSv1_2))
    assert cipher in names
