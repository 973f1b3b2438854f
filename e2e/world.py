"""A test's own corner of the shared cluster: a namespace, names nobody else has, and a broom."""

import secrets
import time
from dataclasses import dataclass, field

from e2e.api import Api, WaitTimeoutError, holds
from e2e.cluster import Cluster
from e2e.wire import ApiError, Object

GONE_S = 30.0
# What a namespace may hold that a controller of ours protects with a finalizer.
PROTECTED = ("Workload", "Job", "Pod")


@dataclass(slots=True)
class World:
    """Where one test makes its objects. Cluster-wide ones get names with `prefix`."""

    cluster: Cluster
    namespace: str
    prefix: str
    _made: list[tuple[str, str]] = field(default_factory=list)
    _namespaces: list[str] = field(default_factory=list)

    @property
    def api(self) -> Api:
        return self.cluster.api()

    def name(self, short: str) -> str:
        """Return a name that is this test's alone in the whole cluster."""
        return f"{self.prefix}-{short}"

    def make(self, *items: Object) -> None:
        """Create objects in the given order; cluster-wide ones are swept when the test ends."""
        for item in items:
            made = self.api.create(item)
            if "namespace" not in made["metadata"]:
                self._made.append((item["kind"], made["metadata"]["name"]))

    def wait_for_queue(self, name: str) -> None:
        """Wait until a LocalQueue takes Jobs: before, whoever comes is told to wait."""
        self.api.wait_one(
            "LocalQueue",
            name,
            lambda one: holds(one, "Active"),
            namespace=self.namespace,
            what="active",
        )

    def another_namespace(self, short: str, labels: dict[str, str] | None = None) -> str:
        """Make one more namespace for this test and return its name."""
        name = self.name(short)
        self._make_namespace(name, labels or {})
        return name

    def leave(self) -> None:
        """Ask for the deletion of what the test made; it goes while the next test runs."""
        for namespace in self._namespaces:
            self.api.delete("Namespace", namespace)
        for kind, name in reversed(self._made):
            self.api.delete(kind, name)

    def sweep(self) -> None:
        """See that all is gone; finalizers of a controller that is gone do not stop it."""
        deadline = time.monotonic() + GONE_S
        for kind, name in [("Namespace", one) for one in self._namespaces] + self._made:
            try:
                self.api.wait_gone(kind, name, timeout_s=max(1.0, deadline - time.monotonic()))
            except WaitTimeoutError:
                self._force(kind, name)

    def _make_namespace(self, name: str, labels: dict[str, str]) -> None:
        metadata = {"name": name, "labels": labels}
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        self._namespaces.append(name)
        # Pods need it, and Jobs wait longer for it when they had to fail first.
        self.api.wait_one("ServiceAccount", "default", bool, namespace=name)

    def _force(self, kind: str, name: str) -> None:
        if kind != "Namespace":
            self._strip(kind, name, None)
            return
        for held in PROTECTED:
            try:
                items = self.api.items(held, name)
            except ApiError as error:
                if error.status != 404:
                    raise
                continue
            for item in items:
                self._strip(held, item["metadata"]["name"], name)

    def _strip(self, kind: str, name: str, namespace: str | None) -> None:
        try:
            self.api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace=namespace)
        except ApiError as error:
            if error.status != 404:
                raise


def new_world(cluster: Cluster) -> World:
    """Make a corner with an empty namespace; `leave` it when the test ends, then `sweep` it."""
    prefix = f"t{secrets.token_hex(3)}"
    made = World(cluster, namespace=prefix, prefix=prefix)
    made._make_namespace(prefix, {"queueing.test/world": prefix})
    return made
