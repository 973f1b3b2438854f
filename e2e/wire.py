"""HTTP to an API server, one connection per thread, plain and synchronous."""

import base64
import http.client
import json
import os
import ssl
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import yaml

Object = dict[str, Any]
REQUEST_TIMEOUT_S = 60.0
# A busy server says "too many requests" or "try again": that is no answer yet.
TRY_AGAIN = frozenset({429, 503, 504})
TRY_AGAIN_FOR_S = 60.0


class ApiError(Exception):
    """The API server said no: HTTP `status`, Kubernetes' `reason` and its sentence."""

    def __init__(self, status: int, body: str) -> None:
        self.status = status
        self.body = body
        try:
            said = json.loads(body)
        except ValueError:
            said = {}
        self.reason = str(said.get("reason", "")) if isinstance(said, dict) else ""
        self.message = str(said.get("message", body)) if isinstance(said, dict) else body
        super().__init__(f"{status} {self.reason}: {self.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where an API server is, and who asks: an identity with a token or a client certificate."""

    server: str
    authority: str
    token: str = ""
    certificate: str = ""
    key: str = ""
    user_agent: str = "queueing-e2e"

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Self:
        """Read the current context of a kubeconfig."""
        config = yaml.safe_load(path.read_text())
        wanted = config["current-context"]
        context = _named(config["contexts"], wanted)["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        return cls(
            server=cluster["server"],
            authority=_file_or_data(cluster, "certificate-authority", path.parent),
            token=user.get("token", ""),
            certificate=_file_or_data(user, "client-certificate", path.parent),
            key=_file_or_data(user, "client-key", path.parent),
        )

    def kubeconfig(self) -> str:
        """Write this access as a kubeconfig, everything inline."""
        cluster = {"server": self.server, "certificate-authority-data": _encoded(self.authority)}
        user: Object = {"token": self.token} if self.token else {}
        if self.certificate:
            user["client-certificate-data"] = _encoded(self.certificate)
            user["client-key-data"] = _encoded(self.key)
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "e2e",
                "clusters": [{"name": "e2e", "cluster": cluster}],
                "users": [{"name": "e2e", "user": user}],
                "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
            }
        )


@dataclass(slots=True)
class Wire:
    """Sends requests for one identity; safe to share between threads."""

    access: Access
    _local: threading.local = field(default_factory=threading.local)
    _kept: list[http.client.HTTPConnection] = field(default_factory=list)
    _tls: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self._tls = tls_of(self.access)

    def call(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Any:
        """Send one request and return its JSON (or text) answer.

        Raises ApiError when the server refuses, OSError or HTTPException when it is away.
        """
        data = None if body is None else json.dumps(body).encode()
        deadline = time.monotonic() + TRY_AGAIN_FOR_S
        while True:
            status, after_s, text = self._exchange(verb, _target(path, query), data, content_type)
            if status in TRY_AGAIN and time.monotonic() < deadline:
                time.sleep(after_s)
                continue
            if status >= 400:
                raise ApiError(status, text)
            return json.loads(text) if text[:1] in "{[" else text

    def lines(
        self, path: str, query: Mapping[str, str], timeout_s: float
    ) -> Generator[Object, None, None]:
        """Yield a watch's JSON lines until the server ends it or is silent for `timeout_s`."""
        with closing(self._connection(timeout_s)) as connection:
            connection.request("GET", _target(path, query), headers=self._headers())
            response = connection.getresponse()
            if response.status >= 400:
                raise ApiError(response.status, response.read().decode())
            while line := response.readline():
                yield json.loads(line)

    def close(self) -> None:
        """Close the connections of all threads; a later call opens a new one."""
        while self._kept:
            self._kept.pop().close()

    def _exchange(
        self, verb: str, target: str, data: bytes | None, content_type: str
    ) -> tuple[int, float, str]:
        headers = {**self._headers(), "Content-Type": content_type}
        for attempt in (1, 2):
            kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
            connection = kept or self._keep(self._connection(REQUEST_TIMEOUT_S))
            try:
                connection.request(verb, target, body=data, headers=headers)
                response = connection.getresponse()
                text = response.read().decode()
            except (OSError, http.client.HTTPException):
                connection.close()
                # That the server closed an idle connection says nothing about the request.
                if connection is not kept or attempt == 2:
                    raise
                continue
            after_s = float(response.headers.get("Retry-After", "0") or "0") or 0.5
            return response.status, after_s, text
        raise AssertionError("unreachable: the second attempt returns or raises")

    def _keep(self, connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        self._local.connection = connection
        self._kept.append(connection)
        return connection

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": self.access.user_agent}
        if self.access.token:
            headers["Authorization"] = f"Bearer {self.access.token}"
        return headers

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        url = urlsplit(self.access.server)
        host, port = url.hostname or "", url.port
        if url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=timeout_s)
        return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=self._tls)


def tls_of(access: Access) -> ssl.SSLContext:
    """Return how an identity proves itself, and whom it believes."""
    made = ssl.create_default_context(cadata=access.authority or None)
    if access.certificate:
        with _as_file(access.certificate + "\n" + access.key) as pem:
            made.load_cert_chain(pem)
    return made


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _named(items: list[Object], name: str) -> Object:
    return next(item for item in items if item["name"] == name)


def _file_or_data(holder: Object, name: str, folder: Path) -> str:
    if data := holder.get(f"{name}-data"):
        return base64.b64decode(str(data)).decode()
    if file := holder.get(name):
        return (folder / str(file)).read_text()
    return ""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@contextmanager
def _as_file(text: str) -> Generator[str, None, None]:
    """Lend `text` as a file: ssl reads key pairs from files only."""
    descriptor = os.memfd_create("pem")
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
