"""What one pod of a template requests: Kubernetes' formula, with defaults of LimitRanges.

The LimitRanges of a namespace come as one summary: defaults for containers, bounds for both.

See https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
and, for sidecars, https://kep.k8s.io/753.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.devices.wire.asks import NO_SURROUNDINGS, DeviceSurroundings
from queueing.translate.problems import Problems
from queueing.translate.transformations import NO_RULES, ResourceRules
from queueing.translate.wire.cluster import LimitRange
from queueing.translate.wire.meta import Resources
from queueing.translate.wire.pods import Container, PodSpec
from queueing_api.quantity import amount

Amounts = Mapping[str, int]

RESERVED = "pods"
"""Counted by the queue itself; nobody may request it."""
UNSOUND = "resources validation failed"
FORBIDDEN = "resources didn't satisfy LimitRange constraints"
RULES = (UNSOUND, FORBIDDEN)
"""What a Workload's requests are held against, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of one type, in decision units."""

    max: Amounts = field(default_factory=dict)
    min: Amounts = field(default_factory=dict)
    default: Amounts = field(default_factory=dict)
    default_request: Amounts = field(default_factory=dict)

    def judge(self, least: Amounts, most: Amounts, path: str, problems: Problems) -> None:
        """Note every amount that the bounds forbid, between the least and the most of each."""
        if not (self.max or self.min):
            return
        above = [name for name in most if name in self.max and most[name] > self.max[name]]
        problems.add_values(FORBIDDEN, path, above, "requests must not be above the limitRange max")
        below = [name for name in most if name in self.min and least[name] < self.min[name]]
        problems.add_values(FORBIDDEN, path, below, "requests must not be below the limitRange min")


NO_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSummary:
    """What the LimitRanges of one namespace say together."""

    container: Bounds = NO_BOUNDS
    pod: Bounds = NO_BOUNDS


NO_LIMITS = LimitSummary()


def summarize(ranges: Iterable[LimitRange]) -> LimitSummary:
    """Combine LimitRanges, in order of name: tightest bounds, first default."""
    found: dict[str, Bounds] = {}
    for one in sorted(ranges, key=lambda limit_range: limit_range.metadata.name):
        for item in one.spec.limits:
            before = found.get(item.type, NO_BOUNDS)
            tops, bottoms = _amounts(item.max), _amounts(item.min)
            found[item.type] = Bounds(
                max={
                    name: min(before.max.get(name, top), top)
                    for name, top in {**before.max, **tops}.items()
                },
                min={
                    name: max(before.min.get(name, bottom), bottom)
                    for name, bottom in {**before.min, **bottoms}.items()
                },
                default={**_amounts(item.default), **before.default},
                default_request={**_amounts(item.default_request), **before.default_request},
            )
    return LimitSummary(
        container=found.get("Container", NO_BOUNDS), pod=found.get("Pod", NO_BOUNDS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a pod's requests depend on besides its template."""

    limits: LimitSummary = NO_LIMITS
    overheads: Mapping[str, Amounts] = field(default_factory=dict)
    """Per RuntimeClass."""
    rules: ResourceRules = NO_RULES
    devices: DeviceSurroundings = NO_SURROUNDINGS
    topologies: bool = False
    """Whether any flavor has a topology, so that it matters which nodes pods may be put on."""


NOTHING_AROUND = Surroundings()


def pod_requests(
    spec: PodSpec, around: Surroundings, *, path: str, problems: Problems
) -> dict[str, int]:
    """Return the requests of one pod, before exclusions and transformations.

    `max(containers + sidecars, each init container + the sidecars started before it) + overhead`,
    where a pod-level request replaces the sum of its containers (KEP-753, KEP-2837).
    """
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for position, container in enumerate(spec.init_containers):
        where = f"{path}.initContainers[{position}]"
        asked = _container_requests(container, around.limits, where, problems)
        if container.restart_policy == "Always":
            _add(sidecars, asked)
            _raise(peak, sidecars)
        else:
            _add(asked, sidecars)
            _raise(peak, asked)
    running: dict[str, int] = {}
    for position, container in enumerate(spec.containers):
        where = f"{path}.containers[{position}]"
        _add(running, _container_requests(container, around.limits, where, problems))
    _add(running, sidecars)
    _raise(running, peak)
    whole = problems.amounts(f"{path}.resources.limits", spec.resources.limits)
    whole |= problems.amounts(f"{path}.resources.requests", spec.resources.requests)
    running.update(whole)
    _add(running, _overhead(spec, around, path, problems))
    around.limits.pod.judge(running, running, path, problems)
    return running


def counted_requests(
    spec: PodSpec, around: Surroundings, *, path: str, problems: Problems
) -> dict[str, int]:
    """Return the requests of one pod as quota counts them."""
    asked = pod_requests(spec, around, path=path, problems=problems)
    if RESERVED in asked:
        problems.add(f"{path}[{RESERVED}]", "the key is reserved for internal kueue use")
        del asked[RESERVED]
    return around.rules.apply(asked)


def _container_requests(
    container: Container, limits: LimitSummary, path: str, problems: Problems
) -> dict[str, int]:
    """Return a container's requests: its own, else the default request, else its limit.

    What a LimitRange allows at least must hold for the lower of request and limit, and what it
    allows at most for the higher.
    """
    found = container.resources
    limited = {
        **limits.container.default,
        **problems.amounts(f"{path}.resources.limits", found.limits),
    }
    own = problems.amounts(f"{path}.resources.requests", found.requests)
    asked = {**limited, **limits.container.default_request, **own}
    above = [name for name in asked if name in limited and asked[name] > limited[name]]
    problems.add_values(UNSOUND, path, above, "requests must not exceed its limits")
    least = {name: min(value, limited.get(name, value)) for name, value in asked.items()}
    most = {name: max(value, limited.get(name, value)) for name, value in asked.items()}
    limits.container.judge(least, most, path, problems)
    return asked


def _overhead(spec: PodSpec, around: Surroundings, path: str, problems: Problems) -> Amounts:
    if spec.overhead:
        return problems.amounts(f"{path}.overhead", spec.overhead)
    return around.overheads.get(spec.runtime_class_name, {})


def _add(into: dict[str, int], more: Amounts) -> None:
    for name, value in more.items():
        into[name] = into.get(name, 0) + value


def _raise(floor: dict[str, int], to: Amounts) -> None:
    for name, value in to.items():
        floor[name] = max(floor.get(name, 0), value)


def _amounts(resources: Resources) -> dict[str, int]:
    return {name: amount(name, quantity) for name, quantity in resources.items()}
