"""Which cluster, and as whom: from a kubeconfig or the pod's service account.

kubernetes-asyncio reads the files, runs exec plugins and speaks OIDC; it is imported only when a
cluster is loaded, because it costs 0.6 s of CPU. What it does not do is renewal: tokens are read
again when they near their end and when the server answers 401, and rotated client certificates
reach new connections.
"""

import os
import ssl
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from queueing.clock import Clock, SystemClock
from queueing.kube.credentials import (
    Anonymous,
    Credentials,
    Grant,
    RenewedCredentials,
    end_of_token,
    refresh_time,
)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
_USUAL = "~/.kube/config"
_MALFORMED = (AssertionError, KeyError, TypeError, ValueError)
"""What kubernetes-asyncio raises for a file that is YAML, but not a kubeconfig."""
_FILE_TOKEN_LIFE_S = 75.0  # so that the file is read again every minute, as client-go does


class ConfigurationError(Exception):
    """The cluster configuration cannot be used; the message names the file and the way out."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach an API server: its URL, TLS settings, proxy and the credentials to present."""

    server: str
    credentials: Credentials
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None
    namespace: str = "default"

    @classmethod
    def plain(cls, server: str) -> "Cluster":
        """Describe a server without authentication: on loopback, or behind a proxy that adds it."""
        return cls(server.rstrip("/"), Anonymous())


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the configuration comes from; empty means KUBECONFIG, ~/.kube/config or the pod."""

    kubeconfig: str | None = None
    context: str | None = None
    strict_tls: bool = True


async def load_cluster(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    strict_tls: bool = True,
    clock: Clock | None = None,
) -> Cluster:
    """Read the configuration and build everything a client needs; raises ConfigurationError.

    `strict_tls=False` accepts cluster CAs without key identifiers, which Python 3.13 refuses.
    """
    source = Source(kubeconfig=kubeconfig, context=context, strict_tls=strict_tls)
    clock = clock or SystemClock()
    loaded = await _load(source, clock)
    try:
        tls = _tls_context(loaded.settings, source) if loaded.server.startswith("https") else None
    except OSError as error:  # an SSLError is one
        raise ConfigurationError(_way_out(source, error)) from error

    async def renew() -> Grant:
        fresh = await _load(source, clock)
        if tls is None or not _present_certificate(tls, fresh.settings):
            return fresh.grant
        return replace(fresh.grant, certificate=_stamp_of(fresh.settings))

    grant = replace(loaded.grant, certificate=_stamp_of(loaded.settings))
    return Cluster(
        server=loaded.server,
        credentials=RenewedCredentials(grant, renew, clock),
        tls=tls,
        server_name=loaded.settings.tls_server_name or None,
        proxy=loaded.settings.proxy or proxy_for(loaded.server),
        namespace=loaded.namespace,
    )


def proxy_for(server: str) -> str | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY prescribe for this URL, if any."""
    url = urlsplit(server)
    if urllib.request.proxy_bypass(url.hostname or ""):
        return None
    return urllib.request.getproxies().get(url.scheme)


@dataclass(frozen=True, slots=True)
class _Loaded:
    server: str
    grant: Grant
    settings: Any  # kubernetes_asyncio.client.Configuration, which has no types
    namespace: str


async def _load(source: Source, clock: Clock) -> _Loaded:
    from kubernetes_asyncio.client import Configuration  # noqa: PLC0415 - 0.6 s, see above
    from kubernetes_asyncio.config.config_exception import (  # noqa: PLC0415 - as above
        ConfigException,
    )

    settings = Configuration()
    now = clock.now()
    read = _read_pod if _is_pod(source) else _read_kubeconfig
    try:
        namespace, end = await read(source, settings, now)
    except (ConfigException, OSError, yaml.YAMLError, *_MALFORMED) as error:
        raise ConfigurationError(_way_out(source, error)) from error
    authorization = settings.api_key.get("BearerToken", "")
    end = end_of_token(authorization) if end is None else end
    grant = Grant(authorization, refresh_time(now, end))
    return _Loaded(str(settings.host).rstrip("/"), grant, settings, namespace)


def _is_pod(source: Source) -> bool:
    asked = source.kubeconfig or source.context or os.environ.get("KUBECONFIG")
    return not asked and _SERVICE_ACCOUNT.is_file()


async def _read_pod(_source: Source, settings: Any, now: float) -> tuple[str, float | None]:
    from kubernetes_asyncio.config import load_incluster_config  # noqa: PLC0415 - see above

    load_incluster_config(settings, try_refresh_token=False)  # type: ignore[no-untyped-call]
    namespace = _SERVICE_ACCOUNT.with_name("namespace").read_text("utf-8").strip()
    return namespace, now + _FILE_TOKEN_LIFE_S


async def _read_kubeconfig(source: Source, settings: Any, now: float) -> tuple[str, float | None]:
    from kubernetes_asyncio.config import load_kube_config  # noqa: PLC0415 - see above

    if not _files_of(source):
        raise FileNotFoundError("there is no such file")

    loader = await load_kube_config(
        config_file=source.kubeconfig,
        context=source.context,
        client_configuration=settings,
        persist_config=False,
    )
    current = loader.current_context or {}
    namespace = str((current.get("context") or {}).get("namespace") or "default")
    expiry = getattr(loader, "exec_plugin_expiry", None)
    if expiry is not None:
        return namespace, float(expiry.timestamp())
    user = getattr(loader, "_user", None)
    reads_file = user is not None and "tokenFile" in user
    return namespace, now + _FILE_TOKEN_LIFE_S if reads_file else None


def _files_of(source: Source) -> list[Path]:
    asked = source.kubeconfig or os.environ.get("KUBECONFIG") or _USUAL
    named = [Path(one).expanduser() for one in asked.split(os.pathsep) if one]
    return [one for one in named if one.exists()]


def _tls_context(settings: Any, source: Source) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if not source.strict_tls:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    _present_certificate(context, settings)
    return context


def _present_certificate(context: ssl.SSLContext, settings: Any) -> bool:
    if not settings.cert_file:
        return False
    context.load_cert_chain(settings.cert_file, keyfile=settings.key_file)
    return True


def _stamp_of(settings: Any) -> bytes:
    return Path(settings.cert_file).read_bytes() if settings.cert_file else b""


def _way_out(source: Source, error: Exception) -> str:
    where = source.kubeconfig or os.environ.get("KUBECONFIG") or _USUAL
    why = " ".join(str(error).split()) or "an entry is missing"
    return (
        f"cannot read the cluster configuration from {where}: {why}; "
        "name a file with --kubeconfig and a context with --context"
    )
