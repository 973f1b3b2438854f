"""A replica asks the one that leads, over TLS, under the account that both have."""

import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from queueing.apiserver.server import serve
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.credentials import Grant
from queueing.kube.lease_record import ADDRESS, KubeLeaseStore, LeaseRecord
from queueing.kube.resources import LEASES, NAMESPACES
from queueing.serving import estimates, read_models
from queueing.serving.certificates import Certificates, make, service_names
from queueing.serving.forward import FORWARDED, Forwarder, limits

NOW = 1_790_000_000.0
NAMES = service_names("kueue-visibility-server", "kueue-system")
HOST = "127.0.0.1"


class Token:
    """Credentials as a pod has them."""

    async def current(self) -> Grant:
        return Grant("Bearer ours")

    async def renewed(self, rejected: Grant) -> Grant:
        return rejected


@asynccontextmanager
async def site(application: web.Application, tls: ssl.SSLContext | None) -> AsyncIterator[str]:
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0, ssl_context=tls).start()
    try:
        yield f"{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def leader(made: Certificates, folder: Path) -> AsyncIterator[str]:
    """Serve what a leader would, saying whose token it was shown."""
    (folder / "crt").write_bytes(made.certificate)
    (folder / "key").write_bytes(made.key)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "crt", folder / "key")

    async def answer(request: web.Request) -> web.StreamResponse:
        shown = {"token": request.headers["Authorization"], "asked": str(request.rel_url)}
        return web.json_response(shown, status=404 if "gone" in request.path else 200)

    application = web.Application()
    application.router.add_get("/{rest:.*}", answer)
    async with site(application, tls) as address:
        yield address


@asynccontextmanager
async def follower(address: str, authority: bytes) -> AsyncIterator[str]:
    """Serve a replica that does not lead, beside a Lease that says who does."""
    async with serve() as api:
        cluster = Cluster(server=api.url, credentials=Token())
        async with Client(cluster) as client:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
            await client.create(NAMESPACES.within(), body)
            store = KubeLeaseStore(client, "l", "kueue-system", {ADDRESS: address})
            record = LeaseRecord(
                holder="a", duration_s=15, acquired=NOW, renewed=NOW, transitions=1, version=""
            )
            await store.write(record, 5.0)
            lease = LEASES.at("l", "kueue-system")
            asks = Forwarder(client, lease, NAMES[0], lambda: authority)

            async def handler(request: web.Request) -> web.StreamResponse:
                return await asks.ask(request) or web.Response(status=503)

            application = web.Application()
            application.router.add_get("/{rest:.*}", handler)
            async with site(application, None) as here:
                yield here


@pytest.mark.parametrize(
    ("path", "want"),
    [pytest.param("/queue?limit=3", 200, id="an answer"), pytest.param("/gone", 404, id="a no")],
)
async def test_the_leader_is_asked_with_our_own_token(tmp_path: Path, path: str, want: int) -> None:
    made = make(NAMES, time.time())
    async with (
        leader(made, tmp_path) as address,
        follower(address, made.ca) as here,
        ClientSession() as session,
        session.get(f"http://{here}{path}") as answer,
    ):
        assert answer.status == want
        assert await answer.json() == {"token": "Bearer ours", "asked": path}


@pytest.mark.parametrize(
    ("headers", "authority"),
    [
        pytest.param({FORWARDED: "1"}, None, id="what was forwarded already"),
        pytest.param({}, make(NAMES, NOW).ca, id="a leader whose authority is another"),
        pytest.param({}, b"", id="an authority that is not known"),
    ],
)
async def test_nobody_is_asked_about(
    tmp_path: Path, headers: dict[str, str], authority: bytes | None
) -> None:
    made = make(NAMES, time.time())
    known = made.ca if authority is None else authority
    async with (
        leader(made, tmp_path) as address,
        follower(address, known) as here,
        ClientSession() as session,
        session.get(f"http://{here}/queue", headers=headers) as answer,
    ):
        assert answer.status == 503


async def test_a_leader_that_does_not_listen_any_more_is_no_answer(tmp_path: Path) -> None:
    made = make(NAMES, time.time())
    async with leader(made, tmp_path) as address:
        pass
    async with (
        follower(address, made.ca) as here,
        ClientSession() as session,
        session.get(f"http://{here}/queue") as answer,
    ):
        assert answer.status == 503


@pytest.mark.parametrize(
    ("path", "takes_s"),
    [
        ("/apis/g/v1/namespaces/n/workloads/w/explanation", read_models.PATIENCE_S),
        (
            "/apis/g/v1/namespaces/n/workloads/w/estimate?pretty=true",
            read_models.SNAPSHOT_S + estimates.PATIENCE_S,
        ),
    ],
    ids=["explanation", "estimate"],
)
def test_the_leader_gets_longer_than_the_answer_may_take_it(path: str, takes_s: float) -> None:
    total = limits(path).total
    assert total is not None
    assert takes_s < total <= takes_s + 10.0
