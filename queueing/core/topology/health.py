"""Whether a node fails the pods of a workload that were given it.

A node that is gone fails all of them. One that is not ready, or that got a taint, fails a workload
as soon as no pod of it runs there any more: until then it may come back, and nothing is lost.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from queueing.core.selectors import Taint, Toleration, untolerated

GRACE_S = 30.0
"""How long a node may be not ready where it is not the pods that tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHealth:
    """What a node says of itself. One that never said whether it is ready counts as gone."""

    ready: bool
    since: float
    """When that changed last."""
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRules:
    """What makes a node fail its pods: the feature gates that this depends on."""

    awaits_pods: bool = True
    """A node that is not ready, or tainted, fails a workload only when none of its pods runs there
    any more; off, at once or after `GRACE_S`."""
    heeds_taints: bool = True
    """Taints that the pods do not tolerate count as well."""
    gives_up: bool = False
    """A node that is not ready for `GRACE_S` fails all its pods, also those that run."""


KUEUE_HEALTH = HealthRules()
"""Kueue's defaults."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a node fails a workload; None where that is open until `look_again_at`."""

    fails: bool | None
    ends_waiting: bool = False
    """Whether pods that are bound for the node and not on it yet must be ended: they could never
    start, and nobody would make others in their place."""
    look_again_at: float | None = None


FINE = Verdict(fails=False)
LOST = Verdict(fails=True)


def verdict(
    node: NodeHealth | None,
    tolerations: Iterable[Sequence[Toleration]],
    rules: HealthRules,
    *,
    runs: bool,
    now: float,
) -> Verdict:
    """Judge a node for one workload.

    `tolerations` are those of each of its pod sets there, and `runs` says whether any of its pods
    is on the node and neither ends nor has ended.
    """
    if node is None:
        return LOST
    if not node.ready:
        return _not_ready(node, rules, runs=runs, now=now)
    away = [one for one in node.taints if one.effect in ("NoSchedule", "NoExecute")]
    if not rules.heeds_taints or not away:
        return FINE
    sets = [tuple(one) for one in tolerations]
    if any(untolerated(away, one) for one in sets):
        return _by_pods(runs=runs) if rules.awaits_pods else LOST
    if any(untolerated(away, map(_for_good, one)) for one in sets):
        return _by_pods(runs=runs)
    return FINE


def _not_ready(node: NodeHealth, rules: HealthRules, *, runs: bool, now: float) -> Verdict:
    lapses = node.since + GRACE_S
    if now >= lapses:
        return LOST if rules.gives_up or not rules.awaits_pods else _by_pods(runs=runs)
    if not rules.awaits_pods:
        return Verdict(fails=None, look_again_at=lapses)
    found = _by_pods(runs=runs)
    return replace(found, look_again_at=lapses) if rules.gives_up else found


def _by_pods(*, runs: bool) -> Verdict:
    return Verdict(fails=not runs, ends_waiting=True)


def _for_good(one: Toleration) -> Toleration:
    """Return a toleration that matches nothing if it holds for some time only."""
    return one if one.toleration_seconds is None else replace(one, effect="-")
