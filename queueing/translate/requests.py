"""What one pod of a template requests: Kubernetes' formula, with defaults of LimitRanges.

See https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
and, for sidecars, https://kep.k8s.io/753.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.devices.wire.asks import NO_SURROUNDINGS, DeviceSurroundings
from queueing.translate.limits import FORBIDDEN, NO_LIMITS, Amounts, LimitSummary
from queueing.translate.problems import Problems
from queueing.translate.transformations import NO_RULES, ResourceRules
from queueing.translate.wire.pods import Container, PodSpec

RESERVED = "pods"
"""Counted by the queue itself; nobody may request it."""


UNSOUND = "resources validation failed"
RULES = (UNSOUND, FORBIDDEN)
"""What a Workload's requests are held against, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a pod's requests depend on besides its template."""

    limits: LimitSummary = NO_LIMITS
    overheads: Mapping[str, Amounts] = field(default_factory=dict)
    """Per RuntimeClass."""
    rules: ResourceRules = NO_RULES
    devices: DeviceSurroundings = NO_SURROUNDINGS


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
