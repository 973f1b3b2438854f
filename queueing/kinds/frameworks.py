"""A kind that is built in: its description, and what Kueue's Configuration and rules say of it."""

from dataclasses import dataclass

from queueing.kinds.hooks import NO_HOOKS, Hooks
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """A built-in kind."""

    name: str
    """Its name in `integrations.frameworks`."""
    spec: QueueableKindSpec
    hooks: Hooks = NO_HOOKS
    prebuilt: bool = True
    """Whether its objects may name a prebuilt Workload."""
    elastic: bool = False
    """Whether its objects may grow and shrink while they run."""
    always: bool = False
    """Whether it is queued whatever a Configuration lists, and nothing is where it cannot be."""
    gate: str = ""
    """Feature gate that must be on; empty for none."""
    implies: tuple[str, ...] = ()
    """Frameworks that are on with it."""
