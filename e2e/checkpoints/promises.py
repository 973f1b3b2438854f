"""What must hold of a save at every version, whoever leads: read off the server's own history."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from e2e.api import holds
from e2e.ha.history import Audit, History
from e2e.quota import Ledger
from e2e.wire import Object
from e2e.world import World

HOLDING = frozenset({"Selected", "Notified", "Saving", "Saved", "Refused", "Cancelled"})
"""Phases in which the pods must not be told to end."""


@dataclass(slots=True)
class Promises:
    """No more is held than offered; nobody is stopped who was not asked, or is still waited for."""

    space: World
    queue: str
    cpu: str
    _seen: list[tuple[int, str, Object]] = field(default_factory=list)
    _followers: list[History] = field(default_factory=list)
    _audit: Audit | None = None

    def __enter__(self) -> Self:
        ledger = Ledger({(frozenset({self.queue}), "cpu"): self.cpu})
        self._audit = Audit(self.space.cluster, self.space.namespace, ledger)
        self._audit.__enter__()
        for kind in ("Job", "Checkpoint"):
            api = self.space.cluster.api()
            follower = History(api, kind, self.space.namespace, self._taking(kind))
            self._followers.append(follower.__enter__())
        return self

    def __exit__(self, *error: object) -> None:
        for ending in (*self._followers, self._audit):
            if ending is not None:
                ending.end()
        for follower in self._followers:
            follower.__exit__(*error)
        if self._audit is not None:
            self._audit.__exit__(*error)

    def check(self, victim: str) -> None:
        """Raise AssertionError when a version so far broke a promise to the victim."""
        if self._audit is not None:
            self._audit.check()
        for follower in self._followers:
            follower.check()
        phases: dict[str, str] = {}
        ran = False
        for _, kind, item in sorted(self._seen, key=lambda one: one[0]):
            name = item["metadata"]["name"]
            if kind == "Checkpoint":
                phases[name] = item.get("status", {}).get("phase", "Selected")
            elif name == victim:
                runs = not item["spec"].get("suspend")
                if ran and not runs:
                    assert phases, f"{name} was suspended and never asked"
                    held = HOLDING & set(phases.values())
                    assert not held, f"{name} was suspended while {phases}"
                ran = runs

    def _taking(self, kind: str) -> Callable[[Object], None]:
        def take(event: Object) -> None:
            item = event["object"]
            self._seen.append((int(item["metadata"]["resourceVersion"]), kind, item))

        return take


def charged(space: World) -> list[str]:
    """Name the Workloads of the test that hold quota."""
    found = space.api.items("Workload", space.namespace)
    return sorted(
        owner["name"]
        for one in found
        if holds(one, "QuotaReserved")
        for owner in one["metadata"].get("ownerReferences", [])
    )
