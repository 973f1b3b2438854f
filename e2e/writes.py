"""Counts of writes to the API server, from its own audit log."""

import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster import Cluster

ANY = ""
LOGGED_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Write:
    """One write that the server carried out or refused."""

    user: str
    agent: str
    verb: str
    resource: str
    """Plural, with the subresource: `workloads`, `workloads/status`."""
    namespace: str
    name: str
    code: int
    received: str = ""
    """When the server got it; sorts as text."""

    @property
    def kind(self) -> str:
        """Return verb and resource: `patch workloads/status`."""
        return f"{self.verb} {self.resource}"


class AuditLog:
    """Reads the writes that the server logged since a mark."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = 0
        self.mark()

    def mark(self) -> None:
        """Forget what was written until now."""
        self._mark = self._path.stat().st_size if self._path.exists() else 0

    def writes(
        self, *, user: str = ANY, namespace: str = ANY, resources: Iterable[str] = ()
    ) -> list[Write]:
        """Return the writes since the mark, refused ones too, in the order they reached the server.

        The log itself is in no order: an answer may be logged after the client has sent the next.
        """
        wanted = frozenset(resources)
        with self._path.open("rb") as log:
            # The mark may stand within a line: that write was under way before.
            log.seek(max(self._mark - 1, 0))
            if self._mark:
                log.readline()
            found = [_read(line) for line in log if line.endswith(b"\n")]
        return [
            write
            for write in sorted(found, key=lambda write: write.received)
            if (not user or write.user == user)
            and (not namespace or write.namespace == namespace)
            and (not wanted or write.resource in wanted)
        ]

    def wait(self, count: int, *, user: str, namespace: str) -> list[Write]:
        """Return the writes once there are `count`: the server logs after it has answered."""
        deadline = time.monotonic() + LOGGED_S
        while len(found := self.writes(user=user, namespace=namespace)) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(found)} of {count} writes logged: {by_kind(found)}")
            time.sleep(0.1)
        return found


def audit_log(cluster: Cluster) -> AuditLog:
    """Count the writes of a cluster of our own from now on."""
    if cluster.audit_log is None:
        raise LookupError("this cluster's audit log is not ours to read: use the fixture `audited`")
    return AuditLog(cluster.audit_log)


def by_kind(writes: Iterable[Write]) -> Counter[str]:
    """Count writes by verb and resource."""
    return Counter(write.kind for write in writes)


def _read(line: bytes) -> Write:
    event = json.loads(line)
    reference = event.get("objectRef", {})
    subresource = reference.get("subresource", "")
    resource = reference.get("resource", "")
    return Write(
        user=event["user"]["username"],
        agent=event.get("userAgent", ""),
        verb=event["verb"],
        resource=f"{resource}/{subresource}" if subresource else resource,
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        received=event["requestReceivedTimestamp"],
    )
