"""Credits between objects and the ledger: policies, grants and accounts in; accounts out."""

from fractions import Fraction
from typing import Any

from queueing.core.credits.bend import factor
from queueing.core.credits.facts import (
    BOUNDS,
    HOUR,
    MICRO,
    PART,
    ChildRecord,
    CreditAccountFact,
    CreditGrantFact,
    CreditMode,
    CreditPolicyFact,
    Member,
    Sink,
)
from queueing.core.credits.folding import Resolution
from queueing.core.credits.holding import Holding, Runs
from queueing.core.credits.prices import Prices
from queueing.core.names import (
    CohortName,
    FlavorName,
    FlavorResource,
    Key,
    QueueName,
    ResourceName,
    Uid,
)
from queueing.translate import credits_wire as wire
from queueing.translate.times import timestamp
from queueing_api.config.duration import seconds_of
from queueing_api.quantity import NANO_PER_UNIT, parse


def policy(found: wire.CreditPolicy, *, lag_s: int = 0) -> CreditPolicyFact:
    """Read a policy that its schema let in."""
    spec = found.spec
    mode = CreditMode(spec.mode)
    factors = sorted((one.min_priority, number(one.factor)) for one in spec.class_factors)
    return CreditPolicyFact(
        name=found.metadata.name,
        mode=mode,
        root_cohorts=tuple(CohortName(name) for name in sorted(spec.root_cohorts)),
        prices=prices(spec),
        unit=spec.unit,
        half_life_s=_seconds(spec.half_life),
        horizon_s=_seconds(spec.horizon),
        bound=BOUNDS[mode] if spec.bound is None else spec.bound,
        hysteresis=number(spec.hysteresis),
        minimum_runtime_s=_seconds(spec.minimum_runtime) if spec.minimum_runtime else 0,
        class_factors=tuple(factors),
        debt_limit_s=_seconds(spec.debt_limit) if spec.debt_limit else None,
        non_borrowing_min_priority=spec.non_borrowing_min_priority,
        admission_hold_s=_seconds(spec.admission_hold) if spec.admission_hold else 0,
        lag_s=lag_s,
        keeps_usage=spec.usage_records is not None,
        orders_local_queues=spec.local_queues == "Order",
    )


def prices(spec: wire.CreditPolicySpec) -> Prices:
    """Read what resources cost."""
    return Prices(
        {
            (FlavorName(one.flavor) if one.flavor else None, ResourceName(one.resource)): int(
                number(one.price) * MICRO
            )
            for one in spec.prices
        },
        add_up=spec.billing == "Sum",
    )


def ages(found: wire.UsageRetention | None) -> dict[Resolution, int]:
    """Read at which age, in seconds, rows of usage become coarser, or go."""
    terms = wire.UsageRetention() if found is None else found
    return {
        Resolution.HOUR: _seconds(terms.hours),
        Resolution.DAY: _seconds(terms.days),
        Resolution.MONTH: _seconds(terms.months),
    }


def grant(found: wire.CreditGrant) -> CreditGrantFact:
    """Read a grant; its amount is in units of 3600 credits."""
    spec = found.spec
    return CreditGrantFact(
        name=found.metadata.name,
        uid=found.metadata.life,
        receiver=Member(spec.receiver.kind, spec.receiver.name),
        amount=int(number(spec.amount) * HOUR * MICRO),
        at=int(found.metadata.created),
        expires_at=int(spec.expires_at.timestamp()) if spec.expires_at else None,
    )


def account(found: wire.CreditAccount) -> CreditAccountFact:
    """Read a ledger as it was stored."""
    status, queue = found.status, found.spec.cluster_queue_name
    cohort = found.spec.cohort_name or found.metadata.name
    return CreditAccountFact(
        cohort=None if queue else CohortName(cohort),
        queue=QueueName(queue) if queue else None,
        as_of=int(status.as_of.timestamp()) if status.as_of else None,
        policy=status.policy,
        unit=status.unit,
        children=tuple(_child(one) for one in status.children),
        sinks={
            Sink(one.name): one.micro_credits * PART + one.remainder
            for one in status.sinks
            if one.name in list(Sink)
        },
        leavers=tuple(leaver(one) for one in status.leavers),
        grants={Uid(one.uid): one.expired for one in status.grants},
        grant_names={Uid(one.uid): one.name for one in status.grants},
    )


def leaver(one: wire.Leaver) -> Holding:
    """Read what was written of one who was about to leave."""
    runs_since = int(one.runs_since.timestamp()) if one.runs_since else None
    return Holding(
        uid=Uid(one.uid),
        queue=QueueName(one.cluster_queue),
        priority=one.priority,
        since=int(one.since.timestamp()),
        until=int(one.until.timestamp()) if one.until else None,
        usage={
            FlavorResource(FlavorName(use.flavor), ResourceName(use.resource)): use.amount
            for use in one.usage
        },
        local_queue=Key(one.local_queue) if one.local_queue else None,
        user=one.user,
        runs=None if runs_since is None else Runs(runs_since, runs_since),
    )


def account_spec(found: CreditAccountFact) -> dict[str, Any]:
    """Spell whose ledger it is."""
    if found.queue is not None:
        return {"clusterQueueName": found.queue}
    return {"cohortName": found.cohort}


def account_status(found: CreditAccountFact) -> dict[str, Any]:
    """Spell a ledger as it is stored; lists are replaced as a whole."""
    children = sorted(found.children, key=lambda one: one.balance)
    present = [one for one in children if one.departed_at is None]
    return {
        "asOf": timestamp(found.as_of or 0),
        "policy": found.policy,
        "unit": found.unit,
        "largest": _summary(present[-1:], found.unit),
        "smallest": _summary(present[:1], found.unit),
        "children": [_child_entry(one, found.unit) for one in found.children],
        "sinks": [
            {"name": str(sink), "microCredits": value // PART, "remainder": value % PART}
            for sink, value in found.sinks.items()
        ],
        "leavers": [leaver_entry(one) for one in found.leavers],
        "grants": [
            {"uid": uid, "name": found.grant_names.get(uid, ""), "expired": expired}
            for uid, expired in found.grants.items()
        ],
    }


def hours_text(micro: int, unit: str) -> str:
    """Spell micro-credits for people: 12.50 GPUh."""
    return f"{micro / MICRO / HOUR:.2f} {unit}"


def factor_text(steps: int) -> str:
    """Spell what a weight is multiplied by."""
    return f"{float(factor(steps)):.3f}".rstrip("0").rstrip(".")


def _child(one: wire.Child) -> ChildRecord:
    return ChildRecord(
        member=Member(one.kind, one.name),
        balance=one.micro_credits * PART + one.remainder,
        earned=one.earned * PART,
        spent=one.spent * PART,
        wasted=one.wasted * PART,
        entitlement=one.entitlement,
        held=one.held,
        lent_to=tuple((two.name, two.micro_credits) for two in one.lent_to),
        borrowed_from=tuple((two.name, two.micro_credits) for two in one.borrowed_from),
        departed_at=int(one.departed_at.timestamp()) if one.departed_at else None,
    )


def _child_entry(one: ChildRecord, unit: str) -> dict[str, Any]:
    departed = {} if one.departed_at is None else {"departedAt": timestamp(one.departed_at)}
    return {
        "kind": one.member.kind,
        "name": one.member.name,
        "balance": hours_text(one.balance // PART, unit),
        "weightFactor": factor_text(one.exponent),
        "microCredits": one.balance // PART,
        "remainder": one.balance % PART,
        "earned": one.earned // PART,
        "spent": one.spent // PART,
        "wasted": one.wasted // PART,
        "entitlement": one.entitlement,
        "held": one.held,
        "lentTo": _partners(one.lent_to, unit),
        "borrowedFrom": _partners(one.borrowed_from, unit),
        **departed,
    }


def _partners(found: tuple[tuple[str, int], ...], unit: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "amount": hours_text(micro, unit), "microCredits": micro}
        for name, micro in found
    ]


def leaver_entry(one: Holding) -> dict[str, Any]:
    """Spell what is written of one who is about to leave."""
    until = {} if one.until is None else {"until": timestamp(one.until)}
    came_by = {} if one.local_queue is None else {"localQueue": one.local_queue}
    ran = {} if one.runs is None else {"runsSince": timestamp(one.runs.since)}
    return {
        **until,
        **came_by,
        **ran,
        **({"user": one.user} if one.user else {}),
        "uid": one.uid,
        "clusterQueue": one.queue,
        "priority": one.priority,
        "since": timestamp(one.since),
        "usage": [
            {"flavor": flavor, "resource": resource, "amount": amount}
            for (flavor, resource), amount in sorted(one.usage.items())
        ],
    }


def _summary(found: list[ChildRecord], unit: str) -> str:
    return "".join(f"{one.member.name} {hours_text(one.balance // PART, unit)}" for one in found)


def _seconds(text: str) -> int:
    return int(seconds_of(text))


def number(quantity: str | float) -> Fraction:
    """Read a quantity exactly."""
    return Fraction(parse(quantity).nano, NANO_PER_UNIT)
