"""ClusterQueue, Cohort and LocalQueue → facts.

Called by `controller.intake` when an admin changed a queue or cohort, and by `sim.intake`.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    LocalQueueFact,
    Preemption,
    PreemptionPolicy,
    StopPolicy,
    Strategy,
)
from queueing.core.flavor_quotas import CheckRule, FlavorPolicy, FlavorPreference, Fungibility
from queueing.core.names import CheckName, CohortName, FlavorName, QueueName, ResourceName
from queueing.core.variants import Migration
from queueing.translate.inbound.quotas import resource_groups
from queueing.translate.labels import PREEMPTIONS_MAX
from queueing.translate.problems import Problems
from queueing.translate.selectors import selector
from queueing.translate.times import seconds
from queueing.translate.wire import queues as wire
from queueing.translate.wire.meta import Quantity
from queueing_api.quantity import NANO_PER_UNIT, QuantityError, approximate, parse

WEIGHT = "spec.fairSharing.weight"
RETAIN_FIRST = "RetainFirstAdmission"
USAGE_BASED = "UsageBasedAdmissionFairSharing"
_PREEMPTIONS_MOST = 1_000_000
_NUMBER = re.compile(r"^[0-9]{1,7}$")
Word = TypeVar("Word", bound=StrEnum)


def cluster_queue(found: wire.ClusterQueue) -> ClusterQueueFact:
    """Translate a ClusterQueue."""
    problems = Problems()
    spec = found.spec
    has_parent = bool(spec.cohort_name)
    groups = resource_groups(spec.resource_groups, problems)
    weight, divisor = problems.weight(WEIGHT, spec.fair_sharing.weight)
    return ClusterQueueFact(
        name=QueueName(found.metadata.name),
        cohort=CohortName(spec.cohort_name) if has_parent else None,
        groups=groups,
        strategy=_word(Strategy, spec.queueing_strategy, "spec.queueingStrategy", problems),
        namespace_selector=selector(spec.namespace_selector, "spec.namespaceSelector", problems),
        fungibility=_fungibility(spec.flavor_fungibility, problems),
        preemption=_preemption(spec.preemption, problems),
        checks=tuple(
            CheckRule(name=CheckName(rule.name), on_flavors=tuple(map(FlavorName, rule.on_flavors)))
            for rule in spec.admission_checks_strategy.admission_checks
        ),
        stop_policy=_word(StopPolicy, spec.stop_policy, "spec.stopPolicy", problems),
        fair_weight=weight,
        fair_divisor=divisor,
        admission_fair_sharing=spec.admission_scope.admission_mode == USAGE_BASED,
        deleting=found.metadata.deleting,
        preemptions_max=_preemptions_max(found.metadata.annotations, problems),
        migration=_migration(spec.concurrent_admission_policy),
        misconfigured=problems.text(),
    )


def cohort(found: wire.Cohort) -> CohortFact:
    """Translate a Cohort."""
    problems = Problems()
    spec = found.spec
    has_parent = bool(spec.parent_name)
    weight, divisor = problems.weight(WEIGHT, spec.fair_sharing.weight)
    return CohortFact(
        name=CohortName(found.metadata.name),
        parent=CohortName(spec.parent_name) if has_parent else None,
        groups=resource_groups(spec.resource_groups, problems),
        fair_weight=weight,
        fair_divisor=divisor,
        preemptions_max=_preemptions_max(found.metadata.annotations, problems),
        misconfigured=problems.text(),
    )


def local_queue(found: wire.LocalQueue) -> LocalQueueFact:
    """Translate a LocalQueue; an unknown stop policy or weight counts as the default.

    A negative weight is as good as 0: the usage of such a queue is infinite.
    """
    problems = Problems()
    share = found.status.fair_sharing
    history = None if share is None else share.admission_fair_sharing_status
    weight, divisor = _any_weight(found.spec.fair_sharing.weight)
    return LocalQueueFact(
        key=found.metadata.key,
        cluster_queue=QueueName(found.spec.cluster_queue),
        stop_policy=_word(StopPolicy, found.spec.stop_policy, "spec.stopPolicy", problems),
        fair_weight=max(weight, Fraction(0)),
        fair_divisor=max(divisor, 0.0),
        deleting=found.metadata.deleting,
        consumed=() if history is None else _consumed(history),
        sampled_at=None if history is None else seconds(history.last_update),
    )


def _any_weight(quantity: Quantity) -> tuple[Fraction, float]:
    """Read a weight of either sign; 1 when it is no quantity."""
    try:
        return Fraction(parse(quantity).nano, NANO_PER_UNIT), approximate(quantity)
    except QuantityError:
        return Fraction(1), 1.0


def _preemptions_max(annotations: Mapping[str, str], problems: Problems) -> int | None:
    """Read how many may be preempted at once."""
    text = annotations.get(PREEMPTIONS_MAX)
    if text is None:
        return None
    if not _NUMBER.match(text) or not 0 < int(text) <= _PREEMPTIONS_MOST:
        problems.add(
            f"metadata.annotations[{PREEMPTIONS_MAX}]",
            f"{text[:100]!r} must be a whole number from 1 to {_PREEMPTIONS_MOST}",
        )
        return None
    return int(text)


def _consumed(history: wire.UsageHistory) -> tuple[tuple[ResourceName, float], ...]:
    """Read a stored usage history, in whole units; what is no quantity is left out."""
    found = []
    for name, quantity in sorted(history.consumed_resources.items()):
        with suppress(QuantityError):
            if quantity is not None:
                found.append((ResourceName(name), approximate(quantity)))
    return tuple(found)


def _migration(found: wire.ConcurrentAdmission | None) -> Migration | None:
    if found is None:
        return None
    last = found.migration.constraints.last_acceptable_flavor_name
    return Migration(
        retains_first=found.migration.mode == RETAIN_FIRST,
        last_acceptable=FlavorName(last) if last else None,
    )


def _fungibility(found: wire.Fungibility, problems: Problems) -> Fungibility:
    path = "spec.flavorFungibility"
    borrow = _word(FlavorPolicy, found.when_can_borrow, f"{path}.whenCanBorrow", problems)
    preempt = _word(FlavorPolicy, found.when_can_preempt, f"{path}.whenCanPreempt", problems)
    prefer = _word(FlavorPreference, found.preference, f"{path}.preference", problems)
    return Fungibility(when_can_borrow=borrow, when_can_preempt=preempt, preference=prefer)


def _preemption(found: wire.Preemption, problems: Problems) -> Preemption:
    path = "spec.preemption"
    borrow = found.borrow_within_cohort
    return Preemption(
        within_cluster_queue=_word(
            PreemptionPolicy, found.within_cluster_queue, f"{path}.withinClusterQueue", problems
        ),
        reclaim_within_cohort=_word(
            PreemptionPolicy, found.reclaim_within_cohort, f"{path}.reclaimWithinCohort", problems
        ),
        borrow_within_cohort=_word(
            PreemptionPolicy, borrow.policy, f"{path}.borrowWithinCohort.policy", problems
        ),
        max_priority_threshold=borrow.max_priority_threshold,
    )


_DEFAULTS: Mapping[type[StrEnum], StrEnum] = {
    Strategy: Strategy.BEST_EFFORT_FIFO,
    StopPolicy: StopPolicy.NONE,
    FlavorPolicy: FlavorPolicy.MAY_STOP_SEARCH,
    FlavorPreference: FlavorPreference.BORROWING_OVER_PREEMPTION,
    PreemptionPolicy: PreemptionPolicy.NEVER,
}
_FORMERLY = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
"""Words of v1beta1 for flavor fungibility."""


def _word(words: type[Word], found: str, path: str, problems: Problems) -> Word:
    """Read one word of an enumeration; an empty one is the default."""
    default = _DEFAULTS[words]
    assert isinstance(default, words)  # noqa: S101 - the table above maps each to its own member
    try:
        return words(_FORMERLY.get(found, found)) if found else default
    except ValueError:
        problems.add(path, f"{found!r} is not one of {', '.join(words)}")
        return default
