"""The certificate that the serving process makes for itself."""

import ssl
from pathlib import Path

import pytest
from aiohttp import ClientSession, TCPConnector, web

from queueing.serving.certificates import (
    LIFETIME_S,
    RENEW_BEFORE_S,
    Certificates,
    is_usable,
    make,
    service_names,
)

NOW = 1_790_000_000.0
NAMES = service_names("webhook", "kueue-system")


def test_a_new_certificate_is_usable_until_it_is_due() -> None:
    made = make(NAMES, NOW)
    assert is_usable(made, NAMES, NOW)
    assert is_usable(made, NAMES, NOW + LIFETIME_S - RENEW_BEFORE_S - 1)
    assert not is_usable(made, NAMES, NOW + LIFETIME_S - RENEW_BEFORE_S)


def spoiled(**parts: bytes) -> Certificates:
    made = make(NAMES, NOW)
    whole = {"ca": made.ca, "certificate": made.certificate, "key": made.key}
    return Certificates(**{**whole, **parts})


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(spoiled(certificate=b""), id="no certificate"),
        pytest.param(spoiled(key=b"nonsense"), id="a key that is none"),
        pytest.param(spoiled(key=make(NAMES, NOW).key), id="the key of another certificate"),
        pytest.param(spoiled(ca=make(NAMES, NOW).ca), id="signed by another CA"),
        pytest.param(make(("other",), NOW), id="made for another name"),
    ],
)
def test_what_cannot_serve_is_made_anew(held: Certificates) -> None:
    assert not is_usable(held, NAMES, NOW)


async def test_a_client_that_trusts_the_ca_can_call(tmp_path: Path) -> None:
    import time  # noqa: PLC0415 - TLS asks the real clock

    made = make(("localhost",), time.time())
    files = {name: tmp_path / name for name in ("ca", "certificate", "key")}
    for name, file in files.items():
        file.write_bytes(getattr(made, name))
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(files["certificate"], files["key"])
    trusting = ssl.create_default_context(cafile=str(files["ca"]))

    async def hello(_request: web.Request) -> web.Response:
        return web.Response(text="hello")

    application = web.Application()
    application.router.add_get("/", hello)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving)
    await site.start()
    port = runner.addresses[0][1]
    try:
        async with ClientSession(connector=TCPConnector(ssl=trusting)) as session:
            url = f"https://127.0.0.1:{port}/"
            async with session.get(url, server_hostname="localhost") as answer:
                assert await answer.text() == "hello"
    finally:
        await runner.cleanup()
