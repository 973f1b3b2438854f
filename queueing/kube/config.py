"""Which cluster, and as whom: from a kubeconfig or the pod's service account.

kubernetes-asyncio reads the files and speaks OIDC (see `kubeconfig`); it is imported only when a
cluster is loaded, because it costs 0.6 s of CPU. What it does not do is renewal: tokens are read
again when they near their end and when the server answers 401, and rotated client certificates
reach new connections.
"""

import os
import ssl
import urllib.request
from dataclasses import dataclass
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
from queueing.kube.kubeconfig import Identification, Reading, content_of, read_kubeconfig
from queueing.kube.pem import as_text, present

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
class KubeconfigSource:
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
    source = KubeconfigSource(kubeconfig=kubeconfig, context=context, strict_tls=strict_tls)
    clock = clock or SystemClock()
    loaded = await _load(source, clock)
    try:
        tls = _tls_context(loaded, source) if loaded.server.startswith("https") else None
    except OSError as error:  # an SSLError is one
        raise ConfigurationError(_way_out(source, error)) from error

    async def renew() -> Grant:
        fresh = await _load(source, clock)
        if tls is not None:
            _present_certificate(tls, fresh.identification)
        return fresh.grant

    return Cluster(
        server=loaded.server,
        credentials=RenewedCredentials(loaded.grant, renew, clock),
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
    identification: Identification


async def _load(source: KubeconfigSource, clock: Clock) -> _Loaded:
    from kubernetes_asyncio.client import Configuration  # noqa: PLC0415 - 0.6 s, see above
    from kubernetes_asyncio.config.config_exception import (  # noqa: PLC0415 - as above
        ConfigException,
    )

    settings = Configuration()
    now = clock.now()
    try:
        read = await (_read_pod if _is_pod(source) else _read_files)(source, settings)
    except (ConfigException, OSError, yaml.YAMLError, *_MALFORMED) as error:
        raise ConfigurationError(_way_out(source, error)) from error
    authorization = settings.api_key.get("BearerToken", "")
    end = now + _FILE_TOKEN_LIFE_S if read.token_in_file else read.end
    end = end_of_token(authorization) if end is None else end
    grant = Grant(authorization, refresh_time(now, end), read.identification.certificate)
    server = str(settings.host).rstrip("/")
    return _Loaded(server, grant, settings, read.namespace, read.identification)


def _is_pod(source: KubeconfigSource) -> bool:
    asked = source.kubeconfig or source.context or os.environ.get("KUBECONFIG")
    return not asked and _SERVICE_ACCOUNT.is_file()


async def _read_pod(_source: KubeconfigSource, settings: Any) -> Reading:
    from kubernetes_asyncio.config import load_incluster_config  # noqa: PLC0415 - see above

    load_incluster_config(settings, try_refresh_token=False)  # type: ignore[no-untyped-call]
    authority = content_of(settings.ssl_ca_cert)
    namespace = _SERVICE_ACCOUNT.with_name("namespace").read_text("utf-8").strip()
    return Reading(namespace, Identification(authority), token_in_file=True, end=None)


async def _read_files(source: KubeconfigSource, settings: Any) -> Reading:
    if not _files_of(source):
        raise FileNotFoundError("there is no such file")
    return await read_kubeconfig(_names_of(source), source.context, settings)


def _names_of(source: KubeconfigSource) -> str:
    return source.kubeconfig or os.environ.get("KUBECONFIG") or _USUAL


def _files_of(source: KubeconfigSource) -> list[Path]:
    named = [Path(one).expanduser() for one in _names_of(source).split(os.pathsep) if one]
    return [one for one in named if one.exists()]


def _tls_context(loaded: _Loaded, source: KubeconfigSource) -> ssl.SSLContext:
    authority = loaded.identification.authority
    context = ssl.create_default_context(cadata=as_text(authority) or None)
    if not loaded.settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if not source.strict_tls:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    _present_certificate(context, loaded.identification)
    return context


def _present_certificate(context: ssl.SSLContext, ours: Identification) -> None:
    if ours.certificate:
        present(context, ours.certificate, ours.key or ours.certificate)  # one file may hold both


def _way_out(source: KubeconfigSource, error: Exception) -> str:
    where = _names_of(source)
    why = " ".join(str(error).split()) or "an entry is missing"
    return (
        f"cannot read the cluster configuration from {where}: {why}; "
        "name a file with --kubeconfig and a context with --context"
    )
