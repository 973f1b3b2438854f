"""The own pod as the channel: its annotations ask, and are patched to answer.

The pod's service account needs get, watch and patch on pods of its namespace; the ClusterRole
`queueing-checkpoint-answerer` has just that.
"""

import http.client
import json
import os
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queueing_checkpoint.channels import Heard
from queueing_checkpoint.messages import Notice

REQUEST = "queueing.dev/checkpoint-request"
ANSWER = "queueing.dev/checkpoint-answer"
IDLE = "queueing.dev/idle-since"
SERVER_VARIABLE = "QUEUEING_API_SERVER"
"""URL of the API server, where it is not the cluster's own."""
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_S = 10.0
_WATCH_S = 60
_PAUSE_S = 2.0
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the own pod is."""

    server: str
    namespace: str
    name: str
    account: Path = _ACCOUNT

    @property
    def path(self) -> str:
        """The collection that the pod is in."""
        return f"/api/v1/namespaces/{self.namespace}/pods"


class PodChannel:
    """Watches the own pod, and patches it."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "PodChannel | None":
        """Return the channel of the pod that this process runs in; None outside of a cluster."""
        server = environment.get(SERVER_VARIABLE, "")
        host = environment.get("KUBERNETES_SERVICE_HOST", "")
        if not server and host:
            shown = f"[{host}]" if ":" in host else host
            server = f"https://{shown}:{environment.get('KUBERNETES_SERVICE_PORT', '443')}"
        namespace = environment.get("POD_NAMESPACE", "") or _read(_ACCOUNT / "namespace")
        name = environment.get("POD_NAME", "") or environment.get("HOSTNAME", "")
        if not (server and namespace and (name or socket.gethostname())):
            return None
        return cls(Place(server=server, namespace=namespace, name=name or socket.gethostname()))

    def listen(self, heard: Heard, ended: threading.Event) -> None:
        before = ""
        while not ended.is_set():
            try:
                for pod in self._pods(ended):
                    text = (pod.get("metadata", {}).get("annotations") or {}).get(REQUEST, "")
                    notice = Notice.read(text)
                    if text != before and notice is not None:
                        before = text
                        heard(notice)
            except (OSError, http.client.HTTPException, ValueError):
                # The server is away or does not let us: it is asked again, and SIGTERM remains.
                ended.wait(_PAUSE_S)

    def annotations(self) -> Mapping[str, Any]:
        """Return the pod's annotations; none where we may not see it.

        Raises ConnectionError when the server does not answer, however often it is asked.
        """
        last: Exception | None = None
        for _ in range(_TRIES):
            connection = self._open(_TIMEOUT_S)
            try:
                path = f"{self._place.path}/{self._place.name}"
                connection.request("GET", path, headers=self._headers())
                reply = connection.getresponse()
                body = reply.read()
                if reply.status == http.client.OK:
                    return json.loads(body)["metadata"].get("annotations") or {}
                if reply.status < http.client.INTERNAL_SERVER_ERROR:
                    return {}
                last = ConnectionError(f"{reply.status} {reply.reason}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                last = error
            finally:
                connection.close()
            time.sleep(_PAUSE_S)
        raise ConnectionError(f"the own pod cannot be read: {last}") from last

    def answer(self, text: str) -> None:
        self._patch({"annotations": {ANSWER: text}}, "the answer")

    def idle(self, since: float | None) -> None:
        value = None if since is None else str(int(since))
        self._patch({"labels": {IDLE: value}}, "that nothing is done")

    def _patch(self, metadata: Mapping[str, Any], what: str) -> None:
        body = json.dumps({"metadata": metadata})
        connection = self._open(_TIMEOUT_S)
        try:
            path = f"{self._place.path}/{self._place.name}"
            headers = {**self._headers(), "Content-Type": "application/merge-patch+json"}
            connection.request("PATCH", path, body=body, headers=headers)
            reply = connection.getresponse()
            reply.read()
            if reply.status >= http.client.MULTIPLE_CHOICES:
                raise ConnectionError(f"{what} was refused: {reply.status} {reply.reason}")
        except http.client.HTTPException as error:
            raise ConnectionError(f"{what} was not delivered: {error}") from error
        finally:
            connection.close()

    def _pods(self, ended: threading.Event) -> Iterator[Mapping[str, Any]]:
        """Return the pod as it is, and again whenever it changes, for a minute."""
        query = {
            "fieldSelector": f"metadata.name={self._place.name}",
            "watch": "true",
            "timeoutSeconds": str(_WATCH_S),
        }
        connection = self._open(_WATCH_S + _TIMEOUT_S)
        try:
            path = f"{self._place.path}?{urllib.parse.urlencode(query)}"
            connection.request("GET", path, headers=self._headers())
            reply = connection.getresponse()
            if reply.status != http.client.OK:
                raise ConnectionError(f"the pod cannot be watched: {reply.status}")
            while not ended.is_set() and (line := reply.readline()):
                event = json.loads(line)
                if event.get("type") in {"ADDED", "MODIFIED"}:
                    yield event["object"]
        finally:
            connection.close()

    def _open(self, timeout_s: float) -> http.client.HTTPConnection:
        parts = urllib.parse.urlsplit(self._place.server)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=timeout_s)
        authority = self._place.account / "ca.crt"
        context = ssl.create_default_context(cafile=str(authority) if authority.exists() else None)
        return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)

    def _headers(self) -> dict[str, str]:
        """Return what a request says of itself; the token is read anew, because it is rotated."""
        token = _read(self._place.account / "token")
        return {"Authorization": f"Bearer {token}"} if token else {}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return os.environ.get("QUEUEING_TOKEN", "") if path.name == "token" else ""
