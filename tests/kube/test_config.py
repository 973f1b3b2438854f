import asyncio
import base64
import json
import os
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from aiohttp import web

from queueing.kube.client import Client
from queueing.kube.config import Cluster, ConfigurationError, load_cluster, proxy_for
from queueing.kube.credentials import Grant, RenewedCredentials, end_of_token, refresh_time
from queueing.kube.errors import UnauthorizedError, UnreachableError
from queueing.kube.resources import JOBS
from queueing.testing.hand_clock import HandClock

JOB = JOBS.at("j", "ns")


def kubeconfig(path: Path, server: str, user: dict[str, Any], **cluster: Any) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "team"}},
            {"name": "there", "context": {"cluster": "c", "user": "u"}},
        ],
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def jwt(claims: dict[str, Any]) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"Bearer h.{body}.s"


async def test_a_token_from_a_kubeconfig_is_presented(server: Any, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", server.url, {"token": "secret"})
    server.otherwise = server.reply(200)
    cluster = await load_cluster(path)
    async with Client(cluster) as client:
        await client.get(JOB)
    assert cluster.namespace == "team"
    assert server.seen[0].headers["Authorization"] == "Bearer secret"


async def test_a_context_can_be_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", "http://127.0.0.1:1/base/", {})
    cluster = await load_cluster(path, "there")
    assert (cluster.namespace, cluster.server) == ("default", "http://127.0.0.1:1/base")


async def test_a_wrong_file_or_context_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", "http://127.0.0.1:1", {})
    with pytest.raises(ConfigurationError, match=r"nowhere: there is no such file; .*--kubeconfig"):
        await load_cluster(str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError, match=r"elsewhere.*--context"):
        await load_cluster(path, "elsewhere")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("a: [b", id="not YAML"),
        pytest.param("- a", id="a list"),
        pytest.param("apiVersion: v1\nkind: Config", id="no context"),
        pytest.param(
            "{current-context: x, contexts: [{name: x, context: {cluster: c}}],"
            " clusters: [{name: c, cluster: {}}]}",
            id="no server",
        ),
        pytest.param(
            "{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}],"
            " users: [{name: u, user: {}}], clusters: [{name: c, cluster:"
            " {server: 'https://127.0.0.1', certificate-authority-data: AAAA}}]}",
            id="a broken certificate authority",
        ),
    ],
)
async def test_a_malformed_file_is_an_error_of_configuration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=f"{path}.*--kubeconfig"):
        await load_cluster(str(path))


async def test_a_rejected_token_is_read_again_and_the_request_repeated(
    server: Any, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    cluster = await load_cluster(kubeconfig(path, server.url, {"token": "old"}))
    kubeconfig(path, server.url, {"token": "new"})
    server.script = [server.refuse(401), server.reply(200), server.reply(200)]
    async with Client(cluster) as client:
        await client.create(JOBS.within("ns"), {})
        await client.get(JOB)
    sent = [seen.headers["Authorization"] for seen in server.seen]
    assert sent == ["Bearer old", "Bearer new", "Bearer new"]


async def test_a_token_that_stays_rejected_is_an_error(server: Any, tmp_path: Path) -> None:
    cluster = await load_cluster(kubeconfig(tmp_path / "c", server.url, {"token": "old"}))
    server.otherwise = server.refuse(401, "Unauthorized")
    async with Client(cluster) as client:
        for _ in range(2):
            with pytest.raises(UnauthorizedError):
                await client.get(JOB)
    assert len(server.seen) == 3, "read again once, then not before ten seconds have passed"


async def test_a_token_file_is_read_again_each_minute(server: Any, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    path = kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)})
    clock = HandClock()
    cluster = await load_cluster(path, clock=clock)
    token.write_text("second")
    assert (await cluster.credentials.current()).authorization == "Bearer first"
    clock.time += 61
    assert (await cluster.credentials.current()).authorization == "Bearer second"


async def test_an_exec_plugin_is_asked(server: Any, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-plugin", "expirationTimestamp": "2100-01-01T00:00:00Z"},
    }
    (tmp_path / "answer.json").write_text(json.dumps(credential))
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "cat",
        "args": [str(tmp_path / "answer.json")],
        "interactiveMode": "Never",
    }
    path = kubeconfig(tmp_path / "config", server.url, {"exec": plugin})
    grant = await (await load_cluster(path)).credentials.current()
    assert grant.authorization == "Bearer from-plugin"
    assert grant.refresh_at is not None


@pytest.mark.parametrize(
    ("end", "want"),
    [
        pytest.param(None, None, id="unknown: only a 401 tells"),
        pytest.param(2000.0, 1800.0, id="at four fifths of its life"),
        pytest.param(900.0, 1010.0, id="spent already: soon, not in a loop"),
    ],
)
def test_when_to_read_credentials_again(end: float | None, want: float | None) -> None:
    assert refresh_time(1000.0, end) == want


@pytest.mark.parametrize(
    ("authorization", "want"),
    [
        pytest.param(jwt({"exp": 123.0}), 123.0, id="a JWT says when it ends"),
        pytest.param(jwt({}), None, id="a JWT without an end"),
        pytest.param("Bearer opaque", None, id="not a JWT"),
        pytest.param("Bearer a.!!!.c", None, id="looks like one only"),
        pytest.param("Basic dXNlcg==", None, id="a password"),
    ],
)
def test_the_end_of_a_token(authorization: str, want: float | None) -> None:
    assert end_of_token(authorization) == want


async def test_many_requests_that_notice_at_once_read_once() -> None:
    reads = 0

    async def load() -> Grant:
        nonlocal reads
        reads += 1
        await asyncio.sleep(0)
        return Grant("Bearer new")

    credentials = RenewedCredentials(Grant("Bearer old", 999.0), load, HandClock())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(credentials.current()) for _ in range(5)]
    assert {task.result().authorization for task in tasks} == {"Bearer new"}
    assert reads == 1


async def test_a_failed_reading_keeps_the_old_credentials() -> None:
    async def load() -> Grant:
        raise OSError("the plugin is not there")

    old = Grant("Bearer old", 999.0)
    credentials = RenewedCredentials(old, load, HandClock())
    assert await credentials.current() is old
    assert await credentials.renewed(old) is old


def test_proxy_variables_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "10.0.0.1")
    assert proxy_for("https://api.example:6443") == "http://proxy:3128"
    assert proxy_for("https://10.0.0.1:6443") is None
    assert proxy_for("http://api.example") is None


@asynccontextmanager
async def tls_server(authority: trustme.CA, name: str) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that wants a client certificate and notes whose came."""
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        peer = request.transport.get_extra_info("ssl_object").getpeercert()
        seen.append(dict(peer["subjectAltName"])["DNS"])
        return web.Response(text="{}")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}", seen
    finally:
        await runner.cleanup()


def write_certificate(authority: trustme.CA, name: str, folder: Path) -> dict[str, str]:
    issued = authority.issue_cert(name)
    certificate, key = folder / "client.crt", folder / "client.key"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return {"client-certificate": str(certificate), "client-key": str(key)}


async def test_client_certificates_are_presented_and_a_rotated_one_is_taken_up(
    tmp_path: Path,
) -> None:
    authority = trustme.CA()
    trust = tmp_path / "ca.crt"
    authority.cert_pem.write_to_path(str(trust))
    token = tmp_path / "token"
    token.write_text("t")
    async with tls_server(authority, "api.cluster.example") as (url, seen):
        user = write_certificate(authority, "first.example", tmp_path)
        path = kubeconfig(
            tmp_path / "config",
            url,
            {**user, "tokenFile": str(token)},
            **{"certificate-authority": str(trust), "tls-server-name": "api.cluster.example"},
        )
        clock = HandClock()
        cluster = await load_cluster(path, clock=clock)
        async with Client(cluster) as client:
            await client.get(JOB)
            write_certificate(authority, "second.example", tmp_path)
            clock.time += 61
            await client.get(JOB)
    assert seen == ["first.example", "second.example"]


@pytest.fixture(params=["in memory", "elsewhere"])
def place(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of temporary files, on a system that has files in memory, or has not."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    if request.param == "elsewhere":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    return folder


def inline(files: dict[str, str]) -> dict[str, str]:
    """Say what is in the files instead of where they are."""
    return {
        f"{key}-data": base64.b64encode(Path(name).read_bytes()).decode()
        for key, name in files.items()
    }


async def test_keys_that_stand_in_the_kubeconfig_are_in_no_file_after_each_load(
    tmp_path: Path, place: Path
) -> None:
    authority = trustme.CA()
    trust, token = tmp_path / "ca.crt", tmp_path / "token"
    authority.cert_pem.write_to_path(str(trust))
    token.write_text("t")
    async with tls_server(authority, "127.0.0.1") as (url, seen):

        def write(name: str) -> str:
            user = inline(write_certificate(authority, name, tmp_path))
            trusted = inline({"certificate-authority": str(trust)})
            return kubeconfig(tmp_path / "c", url, {**user, "tokenFile": str(token)}, **trusted)

        clock = HandClock()
        cluster = await load_cluster(write("first.example"), clock=clock)
        assert list(place.iterdir()) == []
        async with Client(cluster) as client:
            for name in ("first.example", "second.example", "second.example"):
                write(name)
                clock.time += 61
                await client.get(JOB)
                assert list(place.iterdir()) == []
    assert seen[0] == "first.example"
    assert seen[-1] == "second.example"


async def test_keys_that_a_plugin_gives_are_in_no_file_after_the_load(
    tmp_path: Path, place: Path
) -> None:
    authority = trustme.CA()
    trust = tmp_path / "ca.crt"
    authority.cert_pem.write_to_path(str(trust))
    made = write_certificate(authority, "plugin.example", tmp_path)
    status = {
        "clientCertificateData": Path(made["client-certificate"]).read_text(),
        "clientKeyData": Path(made["client-key"]).read_text(),
    }
    version = "client.authentication.k8s.io/v1"
    answer = tmp_path / "answer.json"
    answer.write_text(
        json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    )
    plugin = {"apiVersion": version, "command": "cat", "args": [str(answer)]}
    user = {"exec": {**plugin, "interactiveMode": "Never"}}
    async with tls_server(authority, "127.0.0.1") as (url, seen):
        trusted = {"certificate-authority": str(trust)}
        cluster = await load_cluster(kubeconfig(tmp_path / "c", url, user, **trusted))
        async with Client(cluster) as client:
            await client.get(JOB)
    assert seen == ["plugin.example"]
    assert list(place.iterdir()) == []


async def test_a_load_that_fails_leaves_nothing(tmp_path: Path, place: Path) -> None:
    user = {"client-certificate-data": "bm9uZQ==", "client-key-data": "bm9uZQ=="}
    path = kubeconfig(tmp_path / "c", "https://127.0.0.1:1", user)
    with pytest.raises(ConfigurationError):
        await load_cluster(path)
    assert list(place.iterdir()) == []


async def test_a_server_of_another_authority_is_not_talked_to(tmp_path: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    trust = tmp_path / "ca.crt"
    other.cert_pem.write_to_path(str(trust))
    async with tls_server(authority, "127.0.0.1") as (url, _):
        path = kubeconfig(tmp_path / "c", url, {}, **{"certificate-authority": str(trust)})
        async with Client(await load_cluster(path)) as client:
            with pytest.raises(UnreachableError, match="certificate"):
                await client.get(JOB)


def test_a_plain_cluster_needs_nothing() -> None:
    assert Cluster.plain("http://127.0.0.1:1/").server == "http://127.0.0.1:1"
