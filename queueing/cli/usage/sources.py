"""Where `queueing usage` has its numbers from: kept rows, and for other trees the Workloads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from queueing.core.credits.allowance import rates_of
from queueing.core.credits.attribution import LocalQueueWeights, lent_by_local_queue
from queueing.core.credits.facts import PART, CreditPolicyFact, Member, UsageRow
from queueing.core.credits.folding import Resolution
from queueing.core.credits.holding import Holding, holding_of, running_since
from queueing.core.credits.prices import Prices
from queueing.core.credits.usage import Billing, Line, usage_lines
from queueing.core.facts import ClusterQueueFact, CohortFact, LocalQueueFact, WorkloadFact
from queueing.core.names import CohortName, FlavorResource, Key, QueueName, namespace_of
from queueing.core.quota.tree import quotas_of
from queueing.sim.documents import Document
from queueing.sim.intake import Intake
from queueing.translate import credits_wire as wire
from queueing.translate.inbound.manifests import read
from queueing.translate.usage_records import Stretch, folded, stretch, usage_record

NOBODY = "(no user)"


@dataclass(frozen=True, slots=True)
class Kept:
    """One record: a tree's rows of one stretch of time, up to `as_of`."""

    of: Stretch
    as_of: int
    rows: tuple[UsageRow, ...]
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What was read of a cluster, or of files."""

    world: Intake
    kept: tuple[Kept, ...]
    prices: Prices
    unit: str

    def within(self, begin: int, end: int) -> tuple[Kept, ...]:
        """Return the records that reach into a period, in order of time."""
        return tuple(one for one in self.kept if one.of.start < end and one.as_of > begin)


def sources(world: Intake, documents: Iterable[Document]) -> Sources:
    """Read what usage is told by."""
    records = [read(wire.UsageRecord, one.value) for one in documents if one.kind == "UsageRecord"]
    policy = next((one for one in world.facts if isinstance(one, CreditPolicyFact)), None)
    prices, unit = (Prices({}), "") if policy is None else (policy.prices, policy.unit)
    kept = _counted_once(records)
    unit = unit or next((one.unit for one in kept if one.unit), "")
    return Sources(world=world, kept=kept, prices=prices, unit=unit)


def lines(found: Sources, by: str, between: tuple[int, int]) -> list[Line]:
    """Return who used, borrowed, lent and lost what in a period, by payer and resource."""
    sums: dict[tuple[str, FlavorResource], Line] = {}
    for line in (*_of_records(found, by, between), *_of_workloads(found, by, between)):
        key = line.payer, line.resource
        sums[key] = line if key not in sums else _plus(sums[key], line)
    return [line for _, line in sorted(sums.items()) if line.used or line.lent or line.wasted]


def _counted_once(records: Sequence[wire.UsageRecord]) -> tuple[Kept, ...]:
    """Leave out records that are added up in coarser ones, though not deleted yet."""
    finer = {one.coarser: one for one in Resolution if one.coarser is not None}
    added_up = {
        Stretch(of.root, finer[of.resolution], start)
        for one in records
        if (of := stretch(one)).resolution in finer
        for start in folded(one)
    }
    kept = [
        Kept(of, fact.as_of, fact.rows, fact.unit)
        for one in records
        if (of := stretch(one)) not in added_up
        for fact in (usage_record(one),)
    ]
    return tuple(sorted(kept, key=lambda one: (one.of.start, one.of.name)))


def _of_records(found: Sources, by: str, between: tuple[int, int]) -> Iterable[Line]:
    weights = _weights(found.world)
    for kept in found.within(*between):
        for row in kept.rows:
            if row.name.local_queue or by in {"queue", "flavor"}:
                yield _line(row, _payer(row, by))
        if by in {"queue", "flavor"}:
            continue
        for (_, local_queue, resource), lent in lent_by_local_queue(
            kept.rows, _with_users(kept, weights)
        ).items():
            payer = namespace_of(local_queue) if by == "team" else NOBODY
            yield Line(
                payer=payer,
                resource=resource,
                used=0,
                borrowed=0,
                lent=float(lent / PART),
                wasted=0,
            )


def _payer(row: UsageRow, by: str) -> str:
    holder = row.name.holder
    match by:
        case "team":
            return namespace_of(Key(row.name.local_queue))
        case "user":
            return row.name.user or NOBODY
        case "queue":
            return holder.name if holder.kind == "ClusterQueue" else f"{holder.name} (cohort)"
        case _:
            return ""


def _line(row: UsageRow, payer: str) -> Line:
    return Line(
        payer=payer,
        resource=row.name.resource,
        used=row.used,
        borrowed=row.borrowed / PART,
        idle=row.idle,
        cost=row.cost,
        lent=row.lent / PART,
        wasted=row.wasted,
    )


def _with_users(kept: Kept, weights: LocalQueueWeights) -> LocalQueueWeights:
    """Add LocalQueues that are gone, but were used then."""
    found = {queue: dict(ones) for queue, ones in weights.items()}
    for row in kept.rows:
        if "/" in row.name.local_queue:
            ones = found.setdefault(QueueName(row.name.holder.name), {})
            ones.setdefault(Key(row.name.local_queue), Fraction(1))
    return found


def _weights(world: Intake) -> LocalQueueWeights:
    found: dict[QueueName, dict[Key, Fraction]] = {}
    for one in world.facts:
        if isinstance(one, LocalQueueFact):
            found.setdefault(one.cluster_queue, {})[one.key] = one.fair_weight
    return found


def _of_workloads(found: Sources, by: str, between: tuple[int, int]) -> Sequence[Line]:
    """Count Workloads of the trees of which no rows are kept."""
    world = found.world
    roots = {one.of.root for one in found.kept}
    parents = {one.name: one.parent for one in world.facts if isinstance(one, CohortFact)}
    queues = {one.name: one for one in world.facts if isinstance(one, ClusterQueueFact)}
    facts = {one.uid: one for one in world.facts if isinstance(one, WorkloadFact)}
    holdings = [
        held
        for one in facts.values()
        if (held := holding_of(one)) is not None
        and _root(queues.get(held.queue), held.queue, parents) not in roots
    ]
    payers: Mapping[str, Callable[[Holding], str]] = {
        "team": lambda one: namespace_of(facts[one.uid].key),
        "user": lambda one: one.user or NOBODY,
        "queue": lambda one: QueueName(one.queue),
        "flavor": lambda _: "",
    }
    return usage_lines(
        holdings,
        {
            name: {resource: quota.nominal for resource, quota in quotas_of(one.groups).items()}
            for name, one in queues.items()
        },
        Billing(
            payer=payers[by],
            running_since=lambda one: running_since(facts[one.uid]),
            rates=lambda one: rates_of(one.usage, found.prices),
        ),
        between=between,
    )


def _root(
    queue: ClusterQueueFact | None, name: QueueName, parents: Mapping[CohortName, CohortName | None]
) -> Member:
    if queue is None or queue.cohort is None:
        return Member("ClusterQueue", name)
    top, seen = queue.cohort, set[CohortName]()
    while (above := parents.get(top)) and top not in seen:
        seen.add(top)
        top = above
    return Member("Cohort", top)


def _plus(one: Line, other: Line) -> Line:
    return Line(
        payer=one.payer,
        resource=one.resource,
        used=one.used + other.used,
        borrowed=one.borrowed + other.borrowed,
        idle=one.idle + other.idle,
        cost=one.cost + other.cost,
        lent=_sum(one.lent, other.lent),
        wasted=_sum(one.wasted, other.wasted),
    )


def _sum(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
