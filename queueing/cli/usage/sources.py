"""Where `queueing usage` has its numbers from: kept rows, and for other trees the Workloads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from queueing.cli.usage.attribution import LocalQueueWeights, lent_by_local_queue
from queueing.cli.usage.lines import UsageLine
from queueing.core.credits.facts import PART, CreditPolicyFact, Member, UsageRow
from queueing.core.credits.folding import Resolution
from queueing.core.credits.holding import Holding, holding_of, runs_of
from queueing.core.credits.prices import Prices
from queueing.core.facts import ClusterQueueFact, CohortFact, LocalQueueFact, WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName, namespace_of
from queueing.core.quota.tree import QuotaTree
from queueing.sim.documents import Document
from queueing.sim.intake import Intake
from queueing.state.credits.ledger import member_of
from queueing.state.credits.meter import Meter, MeterTerms
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


def lines(found: Sources, by: str, between: tuple[int, int]) -> list[UsageLine]:
    """Return who used, borrowed, lent and lost what in a period, by payer and resource."""
    sums: dict[tuple[str, FlavorResource], UsageLine] = {}
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


def _of_records(found: Sources, by: str, between: tuple[int, int]) -> Iterable[UsageLine]:
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
            yield UsageLine(
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


def _line(row: UsageRow, payer: str) -> UsageLine:
    return UsageLine(
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


def _of_workloads(found: Sources, by: str, between: tuple[int, int]) -> Iterable[UsageLine]:
    """Count Workloads of the trees of which no rows are kept; what they lent or lost is unknown."""
    tree = QuotaTree()
    for fact in found.world.facts:
        if isinstance(fact, ClusterQueueFact):
            tree.put_queue(fact)
        elif isinstance(fact, CohortFact):
            tree.put_cohort(fact)
    by_root: dict[Member, list[Holding]] = {}
    facts = {one.uid: one for one in found.world.facts if isinstance(one, WorkloadFact)}
    for fact in facts.values():
        held = _holding(fact, *between)
        if held is not None:
            known = tree.queue(held.queue).root if tree.has_queue(held.queue) else None
            root = Member("ClusterQueue", held.queue) if known is None else member_of(known)
            by_root.setdefault(root, []).append(held)
    nodes = {member_of(one): tuple(one.subtree()) for one in tree.roots()}
    for root in by_root.keys() - {one.of.root for one in found.kept}:
        terms = MeterTerms(root, nodes.get(root, ()), found.prices, found.unit, {})
        for row in _metered(terms, by_root[root], between):
            yield replace(_line(row, _payer(row, by)), lent=None, wasted=None)


def _holding(fact: WorkloadFact, begin: int, end: int) -> Holding | None:
    """Return the part of a workload's holding that is within a period; None if there is none."""
    held = holding_of(fact)
    if held is None:
        return None
    since, until = max(held.since, begin), min(end if held.until is None else held.until, end)
    return held._replace(since=since, until=until, runs=runs_of(fact)) if since < until else None


def _metered(
    terms: MeterTerms, holdings: Iterable[Holding], between: tuple[int, int]
) -> Iterator[UsageRow]:
    """Yield the rows that a meter counts of the holdings in a period."""
    begin, end = between
    meter = Meter(terms, begin, None)
    meter.reshape(terms, ())
    numbered = list(enumerate(holdings))
    begins = [(one.since, number, one, 1) for number, one in numbered]
    ends = [(one.until or end, number, one, -1) for number, one in numbered]
    for when, number, one, sign in sorted(begins + ends, key=lambda moment: moment[:2]):
        meter.advance(when)
        if one.runs is not None and sign < 0:
            meter.ran(number, one, min(one.runs.since, when), when)
        meter.count(number, one, when, sign)
    meter.advance(end)
    for record in meter.records(()):
        yield from (row for row in record.rows if row.name.local_queue)


def _plus(one: UsageLine, other: UsageLine) -> UsageLine:
    return UsageLine(
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
