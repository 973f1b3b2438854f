"""How a conformance case speaks to a server, whichever it is."""

import http.client
import itertools
import json
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

WAIT_S = 30.0
GADGETS = "/apis/conformance.example.com/v1"
_DEFINITION = Path(__file__).with_name("gadgets.yaml")
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Answer:
    """What a server said: status, headers and the decoded body."""

    status: int
    headers: Mapping[str, str]
    body: Any

    def __getitem__(self, name: str) -> Any:
        return self.body[name]

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def version(self) -> str:
        return str(self.body["metadata"]["resourceVersion"])


@dataclass
class Remote:
    """Where a server is, and how to call it. `kubectl` is the command with its kubeconfig."""

    url: str
    token: str = "conformance"
    trust: ssl.SSLContext | None = None
    kubectl: tuple[str, ...] = ()
    namespaces: list[str] = field(default_factory=list)
    """What the cases used; a namespace takes long to go, so all go at the very end."""
    _connection: http.client.HTTPConnection | None = None

    def connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=WAIT_S, context=self.trust)
        return http.client.HTTPConnection(host, port, timeout=WAIT_S)

    def send(
        self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """Send one request over the kept connection; a connection that went away is renewed."""
        try:
            return self._exchange(method, target, content, headers)
        except (http.client.RemoteDisconnected, ConnectionError):
            return self._exchange(method, target, content, headers)

    def _exchange(
        self, method: str, target: str, content: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        if self._connection is None:
            self._connection = self.connect()
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._connection.request(method, target, body=content, headers=dict(headers))
            reply = self._connection.getresponse()
            text = reply.read().decode(errors="replace")
        except (http.client.HTTPException, OSError):
            self.close()
            raise
        body = json.loads(text) if text.startswith(("{", "[")) else text
        return Answer(reply.status, dict(reply.headers), body)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass
class Watch:
    """An open watch; iterating gives its events."""

    reply: http.client.HTTPResponse

    @property
    def status(self) -> int:
        return self.reply.status

    def take(self, count: int) -> list[tuple[str, Any]]:
        """Return the next events as (type, object)."""
        return [self.next() for _ in range(count)]

    def next(self) -> tuple[str, Any]:
        line = self.reply.readline()
        if not line:
            raise EOFError("the watch ended")
        event = json.loads(line)
        return event["type"], event["object"]

    def rest(self) -> list[tuple[str, Any]]:
        """Return every event until the server ends the watch."""
        lines = self.reply.read().splitlines()
        return [(event["type"], event["object"]) for event in map(json.loads, lines)]


@dataclass
class Server:
    """One case's view of a server: a namespace of its own, and names nobody else uses."""

    remote: Remote
    namespace: str
    _made: list[str] = field(default_factory=list)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: str = "application/json",
        accept: str = "application/json",
        **query: Any,
    ) -> Answer:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {
            "Authorization": f"Bearer {self.remote.token}",
            "Accept": accept,
            "Content-Type": content,
            "User-Agent": "conformance/1",
        }
        return self.remote.send(method, _target(path, query), data, headers)

    def name(self, prefix: str) -> str:
        """Return a name that is unique in the cluster."""
        return f"{prefix}-{next(_NUMBERS)}-{secrets.token_hex(3)}"

    @property
    def gadgets(self) -> str:
        return f"{GADGETS}/namespaces/{self.namespace}/gadgets"

    @property
    def configmaps(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    @property
    def jobs(self) -> str:
        return f"/apis/batch/v1/namespaces/{self.namespace}/jobs"

    @property
    def pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    def made(self, path: str, body: Any, **query: Any) -> Answer:
        """Create an object that must be accepted."""
        answer = self.call("POST", path, body, **query)
        assert answer.status == 201, answer
        return answer

    def gadget(self, name: str = "one", spec: Any = None, **meta: Any) -> Answer:
        return self.made(self.gadgets, gadget(name, spec, **meta))

    def merge(self, path: str, patch: Any, **query: Any) -> Answer:
        return self.call("PATCH", path, patch, content="application/merge-patch+json", **query)

    def apply(self, path: str, body: Any, manager: str = "me", **query: Any) -> Answer:
        kind = "application/apply-patch+yaml"
        return self.call("PATCH", path, body, content=kind, fieldManager=manager, **query)

    def later(self, path: str) -> str:
        """Remember a path to delete when the case ends."""
        self._made.append(path)
        return path

    def leave(self) -> None:
        for path in reversed(self._made):
            self.call("DELETE", path)

    @contextmanager
    def watch(self, path: str, **query: Any) -> Iterator[Watch]:
        """Open a watch; it ends by itself after 20 s at the latest."""
        query = {"watch": "1", "timeoutSeconds": "20", **query}
        connection = self.remote.connect()
        headers = {"Authorization": f"Bearer {self.remote.token}", "Accept": "application/json"}
        try:
            connection.request("GET", _target(path, query), headers=headers)
            yield Watch(connection.getresponse())
        finally:
            connection.close()

    def until(self, test: Callable[[], Any]) -> Any:
        """Ask again until the answer is true; what other programs do takes its time."""
        end = time.monotonic() + WAIT_S
        while not (found := test()):
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)
        return found

    def kubectl(self, *words: str, stdin: str = "", fails: bool = False, **env: str) -> str:
        """Run kubectl in the case's namespace and return what it printed."""
        command = [*self.remote.kubectl, f"--namespace={self.namespace}", *words]
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **env}
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=environment,
        )
        assert (done.returncode != 0) is fails, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr


def _target(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def gadget(name: str = "one", spec: Any = None, **meta: Any) -> dict[str, Any]:
    """Return a Gadget: the custom kind of the suite."""
    return {
        "apiVersion": "conformance.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": name, **meta},
        "spec": {} if spec is None else spec,
    }


def config_map(name: str = "one", data: Any = None, **meta: Any) -> dict[str, Any]:
    """Return a ConfigMap: the built-in kind of the suite."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **meta},
        "data": data or {},
    }


def job(name: str = "one", *, pod: Any = None, **spec: Any) -> dict[str, Any]:
    """Return a suspended Job, with which no controller interferes."""
    container = {"name": "c", "image": "registry.example.com/work:1"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container], **(pod or {})}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"suspend": True, "template": template, **spec},
    }


def prepare(remote: Remote) -> None:
    """Put the suite's own kinds on a server and wait until they are served."""
    server = Server(remote, "default")
    for definition in yaml.safe_load_all(_DEFINITION.read_text()):
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        answer = server.call("POST", path, definition)
        assert answer.status in (201, 409), answer
        spec = definition["spec"]
        served = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        server.until(lambda: server.call("GET", served).status == 200)  # noqa: B023
        # A write may be refused for a moment longer than a read.
        probe = {"dryRun": "All"}
        kind = {
            "apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}",
            "kind": spec["names"]["kind"],
            "metadata": {"name": "probe"},
        }
        where = served
        if spec["scope"] == "Namespaced":
            where = served.replace(
                f"/{spec['names']['plural']}", f"/namespaces/default/{spec['names']['plural']}"
            )
        server.until(lambda: server.call("POST", where, kind, **probe).status == 201)  # noqa: B023


def tidy(remote: Remote) -> None:
    """Delete every namespace that the cases used."""
    server = Server(remote, "default")
    for name in remote.namespaces:
        server.call("DELETE", f"/api/v1/namespaces/{name}")
    remote.close()


@contextmanager
def case(remote: Remote) -> Iterator[Server]:
    """Lend a server with a namespace of its own."""
    server = Server(remote, f"case-{next(_NUMBERS)}-{secrets.token_hex(3)}")
    meta = {"name": server.namespace, "labels": {"conformance": server.namespace}}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
    server.made("/api/v1/namespaces", body)
    remote.namespaces.append(server.namespace)
    try:
        yield server
    finally:
        server.leave()


def failed(answer: Answer, status: int, *parts: str) -> None:
    """Assert a refusal with that status whose message holds all the parts."""
    assert answer.status == status, answer
    for part in parts:
        assert part in answer.message, answer.message
