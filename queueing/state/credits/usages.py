"""Rows of usage for reports, of every tree whose policy keeps them (`usageRecords`).

They follow the time of the ledgers and count the same holdings. So a new leader, which starts from
the newest stored record and from statuses, gets the same rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from queueing.core.credits.facts import LeaverRecord, Member, UsageRecordFact
from queueing.core.credits.holding import Holding
from queueing.core.credits.prices import Prices
from queueing.core.names import QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts, leaver_record
from queueing.state.credits.agenda import Event, Ran
from queueing.state.credits.book import member_of
from queueing.state.credits.meter import Meter
from queueing.state.credits.policies import Policies


class Usages:
    """All meters, by the name of their tree: `kind/name` of its root."""

    __slots__ = ("_by_queue", "_gone", "_meters", "_names", "_policies", "_unready", "records")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self.records: Accounts[UsageRecordFact] = Accounts()
        self._meters: dict[str, Meter] = {}
        self._gone: dict[str, Meter] = {}
        """Meters of trees that no longer exist, until what they counted is stored."""
        self._names: dict[QueueName, str] = {}
        """ClusterQueue → name of its tree."""
        self._by_queue: dict[QueueName, Meter] = {}
        self._unready: dict[int, None] = {}
        """Numbers of the holdings of which it is not known yet that all pods run."""

    def put(self, fact: UsageRecordFact) -> None:
        """Take in a stored record; only the newest of each tree is kept."""
        name = name_of(fact.root)
        known = self.records.stored(name)
        if known is not None and known.as_of > fact.as_of:
            return
        self.records.put(name, fact)
        meter = self._meters.get(name) or self._gone.get(name)
        if meter is not None:
            meter.closed_until(fact.as_of)
        if name in self._gone and self._gone[name].at <= fact.as_of:
            del self._gone[name]

    @property
    def follows(self) -> bool:
        """Whether rows of any tree are kept, or some pods are not known to run yet."""
        return bool(self._names or self._unready)

    # Time and holdings --------------------------------------------------------------------------

    def advance(self, at: int) -> None:
        """Bring all meters up to a time."""
        for meter in self._meters.values():
            meter.advance(at)

    def follow(
        self, events: Iterable[tuple[int, Event]], counted: Mapping[int, Holding], when: int
    ) -> None:
        """Count the events of one second, before they change which holdings are `counted`."""
        begun: dict[int, Holding] = {}
        by_queue, unready = self._by_queue, self._unready
        for token, event in events:
            if isinstance(event, Holding):
                begun[token] = event
                meter = by_queue.get(event.queue)
                if meter is not None:
                    unready[token] = None
                    meter.count(event, when, 1)
                continue
            holding = counted.get(token) or begun.get(token)
            if holding is None:
                continue
            if isinstance(event, Ran):
                self._ran(token, holding, event.since, when)
            elif event is None:
                self._count_out(token, holding, when)

    def _count_out(self, token: int, holding: Holding, when: int) -> None:
        """End a holding."""
        meter = self._by_queue.get(holding.queue)
        if meter is not None:
            if token in self._unready:
                self._ran(token, holding, when, when)
            meter.count(holding, when, -1)

    def _ran(self, token: int, holding: Holding, since: int, when: int) -> None:
        """Note since when all pods of a holding run; its quota was idle until then."""
        if token not in self._unready:
            return
        del self._unready[token]
        meter = self._by_queue.get(holding.queue)
        if meter is not None and since > holding.since:
            meter.wait(holding, since - holding.since, when)

    def lose(self, holding: Holding, saved: int | None, when: int) -> None:
        """Note an eviction at `when`: the work since it was `saved`, or all of it, is lost."""
        meter = self._by_queue.get(holding.queue)
        if meter is not None:
            meter.lose(holding, when - holding.unsaved_since(when, saved), when)

    # Structure ----------------------------------------------------------------------------------

    def reshape(
        self, tree: QuotaTree, at: int, counted: Mapping[int, Holding], *, started: bool
    ) -> list[UsageRecordFact]:
        """Take over the present trees, quotas and prices from `at` on.

        If the ledgers have not `started`, return the stored records that meters went on from: their
        leavers are to be recalled.
        """
        self.advance(at)
        before = {**self._gone, **self._meters}
        self._names.clear()
        self._by_queue.clear()
        self._meters, self._gone = {}, {}
        read: list[UsageRecordFact] = []
        for root, policy in self._policies.recorded(tree):
            name = name_of(member_of(root))
            meter, stored = before.pop(name, None), self.records.stored(name)
            if meter is None:
                meter = Meter(member_of(root), at, stored)
                if started:
                    meter.advance(at)
                elif stored is not None:
                    read.append(stored)
            nodes = list(root.subtree())
            meter.reshape(nodes, policy.prices, policy.unit)
            self._meters[name] = meter
            queues = [QueueName(one.name) for one in nodes if one.is_queue]
            self._names.update(dict.fromkeys(queues, name))
            self._by_queue.update(dict.fromkeys(queues, meter))
        for name, meter in before.items():
            meter.reshape((), Prices({}), meter.unit)
            stored = self.records.stored(name)
            if stored is None or stored.as_of < meter.at:
                self._gone[name] = meter
        self._count_again(counted)
        return read

    def _count_again(self, counted: Mapping[int, Holding]) -> None:
        for _, holding in sorted(counted.items()):
            meter = self._by_queue.get(holding.queue)
            if meter is not None:
                meter.count(holding, meter.at, 1)

    # What is stored -----------------------------------------------------------------------------

    def over(self, queue: QueueName) -> tuple[str, ...]:
        """Return the name of a queue's tree if its rows are kept, else nothing."""
        name = self._names.get(queue)
        return () if name is None else (name,)

    def unstored(self, leaving: Iterable[Holding]) -> Iterator[UsageRecordFact]:
        """Yield what is to be stored of every tree, by name, older hours first.

        `leaving` are the holdings that statuses no longer show, or soon will not.
        """
        by_tree: dict[str, list[LeaverRecord]] = {}
        for one in sorted(leaving, key=lambda each: (each.uid, each.since)):
            for name in self.over(one.queue):
                by_tree.setdefault(name, []).append(leaver_record(one))
        for name, meter in sorted({**self._gone, **self._meters}.items()):
            known = by_tree.get(name, [])
            if meter.closed:
                known = _with_earlier(known, self.records.stored(name))
            for hour in (*meter.closed, meter.record()):
                left = (one for one in known if one.until is None or one.until > hour.as_of)
                yield replace(hour, leavers=tuple(left))


def name_of(root: Member) -> str:
    """Return the name of a tree: kind and name of its root."""
    return f"{root.kind}/{root.name}"


def _with_earlier(known: list[LeaverRecord], stored: UsageRecordFact | None) -> list[LeaverRecord]:
    """Add the leavers of the stored record: an hour that is over now may have to name them."""
    lives = {(one.uid, one.since) for one in known}
    earlier = () if stored is None else stored.leavers
    return [*known, *(one for one in earlier if (one.uid, one.since) not in lives)]
