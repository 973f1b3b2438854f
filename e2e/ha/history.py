"""Every state of a namespace's Workloads and Jobs, in the order of the server, none left out."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Self

from e2e.api import Api, holds, key_of
from e2e.cluster import Cluster
from e2e.kinds import KINDS
from e2e.quota import Ledger, amount, held, holds_quota
from e2e.wire import ApiError, Object
from queueing.translate.labels import SLICE_REPLACES

WATCH_S = 5
AGAIN_S = 0.2
JOIN_S = WATCH_S + 30.0
GONE = 410


@dataclass(slots=True)
class History:
    """Follows one kind from its first object on; `take` gets each event in its own thread."""

    api: Api
    kind: str
    namespace: str
    take: Callable[[Object], None]
    failure: BaseException | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        return self

    def end(self) -> None:
        """Have it end soon. Several are told before one is waited for: each may be in a watch."""
        self._over.set()

    def __exit__(self, *_: object) -> None:
        self.end()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def check(self) -> None:
        """Raise what the follower raised."""
        if self.failure is not None:
            raise AssertionError(f"{self.kind}: {self.failure}") from self.failure

    def _follow(self) -> None:
        try:
            path = KINDS[self.kind].path(self.namespace)
            found = self.api.wire.call("GET", path)
            for item in found["items"]:
                self.take({"type": "ADDED", "object": item})
            for event in self._events(path, found["metadata"]["resourceVersion"]):
                self.take(event)
        except (AssertionError, ApiError, KeyError) as error:
            self.failure = error

    def _events(self, path: str, version: str) -> Iterator[Object]:
        """Yield the events after a version; a broken watch goes on where it broke."""
        while not self._over.is_set():
            query = {
                "watch": "true",
                "resourceVersion": version,
                "allowWatchBookmarks": "true",
                "timeoutSeconds": str(WATCH_S),
            }
            try:
                for event in self.api.wire.lines(path, query, WATCH_S + 5.0):
                    if event["type"] == "ERROR":
                        raise ApiError(event["object"].get("code", GONE), str(event["object"]))
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        yield event
                    if self._over.is_set():
                        return
            except (OSError, http.client.HTTPException):
                time.sleep(AGAIN_S)


@dataclass(slots=True)
class Audit:
    """What must hold at every version: no group holds more than its offer, no Job starts twice."""

    cluster: Cluster
    namespace: str
    ledger: Ledger
    admissions: list[tuple[float, str]] = field(default_factory=list)
    """When (monotonic) which Workload was seen to be admitted for the first time."""
    workloads: dict[str, Object] = field(default_factory=dict)
    _charges: dict[str, dict[tuple[str, str], Decimal]] = field(default_factory=dict)
    _held: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    _replaced: dict[str, str] = field(default_factory=dict)
    """Which Workload one that holds quota replaces: then that one's pods are among its own."""
    _running: set[str] = field(default_factory=set)
    stopped: list[str] = field(default_factory=list)
    """Jobs that ran and were suspended again."""
    _followers: list[History] = field(default_factory=list)

    def __enter__(self) -> Self:
        # Connections are kept per thread; each follower has its own.
        for kind, take in (("Workload", self.workload), ("Job", self.job)):
            follower = History(self.cluster.api(), kind, self.namespace, take)
            self._followers.append(follower.__enter__())
        return self

    def end(self) -> None:
        """Have its followers end soon."""
        for follower in self._followers:
            follower.end()

    def __exit__(self, *error: object) -> None:
        self.end()
        for follower in self._followers:
            follower.__exit__(*error)

    def check(self) -> None:
        """Raise what any version so far violated."""
        for follower in self._followers:
            follower.check()

    def workload(self, event: Object) -> None:
        """Charge or discharge a Workload, and compare with what is offered."""
        item = event["object"]
        key = key_of(item)
        for place, value in self._charges.pop(key, {}).items():
            self._held[place] -= value
        self._replaced.pop(key, None)
        if event["type"] == "DELETED":
            self.workloads.pop(key, None)
            return
        if holds(item, "Admitted") and not holds(self.workloads.get(key, {}), "Admitted"):
            self.admissions.append((time.monotonic(), key))
        self.workloads[key] = item
        if holds_quota(item):
            charge = self._charges[key] = held([item])
            replaced = (item["metadata"].get("annotations") or {}).get(SLICE_REPLACES)
            if replaced is not None:
                self._replaced[key] = replaced
            for place, value in charge.items():
                self._held[place] = self._held.get(place, Decimal(0)) + value
            self._compare(key)

    def _compare(self, key: str) -> None:
        twice = [self._charges.get(one, {}) for one in self._replaced.values()]
        for (queues, resource), limit in self.ledger.limits.items():
            total = sum(
                (
                    self._held.get((one, resource), Decimal(0))
                    - sum((more.get((one, resource), Decimal(0)) for more in twice), Decimal(0))
                    for one in queues
                ),
                Decimal(0),
            )
            most = self.ledger.most.get((queues, resource), Decimal(0))
            self.ledger.most[queues, resource] = max(total, most)
            assert total <= amount(limit), (
                f"with {key}, {sorted(queues)} hold {total} {resource} of {limit}: "
                + ", ".join(sorted(map(self._told, self._charges)))
            )

    def _told(self, key: str) -> str:
        held = (f"{value.normalize():f} {one}" for (_, one), value in self._charges[key].items())
        return f"{key} ({', '.join(held)})"

    def job(self, event: Object) -> None:
        """Note a Job that ran and runs no more."""
        item = event["object"]
        key = key_of(item)
        if not item["spec"].get("suspend"):
            self._running.add(key)
        elif key in self._running:
            self.stopped.append(key)
