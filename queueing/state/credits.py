"""Credits between cycles: from what statuses say to ledgers, and from balances to weights.

A ledger stays `lag_s` behind the clock, so that by then everything written before has been heard
of, and counts at the whole seconds that objects store. So who starts anew from the stored accounts
and the objects gets the same sums. Weights are bent at fixed points in time, a 256th of the horizon
apart, so that nobody's place depends on when somebody looked.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import floor

from queueing.core.credits import bend
from queueing.core.credits.facts import (
    PART,
    CreditAccountFact,
    CreditFact,
    CreditGone,
    CreditGrantFact,
    CreditKind,
    CreditPolicyFact,
    LeaverRecord,
    Mode,
)
from queueing.core.credits.holding import Holding, holding_of, released_at
from queueing.core.facts import WorkloadFact
from queueing.core.fair_sharing.patience import Patience
from queueing.core.names import CohortName, Key, Uid
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.state.credit_book import Book

TICKS_PER_HORIZON = 256
_FINE = 1 << 32


@dataclass(frozen=True, slots=True)
class Entered:
    """A holding that was told of, under a number of its own."""

    token: int
    holding: Holding


class Credits:
    """All ledgers of a cluster. Without a policy it remembers nothing and costs nothing."""

    __slots__ = (
        "_accounts",
        "_changed",
        "_counted",
        "_ends",
        "_entered",
        "_events",
        "_grants",
        "_next_tick",
        "_policies",
        "_queued_grants",
        "_released",
        "_reshaped",
        "_runtimes",
        "_sequence",
        "_started",
        "books",
        "patience",
    )

    def __init__(self) -> None:
        self._policies: dict[str, CreditPolicyFact] = {}
        self._accounts: dict[CohortName, CreditAccountFact] = {}
        self._grants: dict[str, CreditGrantFact] = {}
        self._queued_grants: dict[Uid, None] = {}
        self.books: dict[CohortName, Book] = {}
        self.patience: dict[Node, Patience] = {}
        """What holds now in each tree, by its root."""
        self._changed: dict[Key, list[WorkloadFact | None]] = {}
        """What statuses said since the last look, in order."""
        self._entered: dict[Key, Entered] = {}
        self._counted: dict[int, Holding] = {}
        """What the books count, by number."""
        self._ends: dict[int, Holding] = {}
        """Who gave quota back without having finished, as long as the books do not count it."""
        self._released: dict[Key, Holding] = {}
        """The last of these of each workload."""
        self._events: list[tuple[int, int, Callable[[Credits, QuotaTree, int], None]]] = []
        self._runtimes: list[tuple[float, Key]] = []
        self._sequence = 0
        self._next_tick: int | None = None
        self._reshaped = False
        self._started = False

    # News -------------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Whether any policy counts."""
        return bool(self._policies)

    def observe(self, fact: CreditFact) -> None:
        """Take in a policy, a grant or a stored account; an account is read only at the start."""
        match fact:
            case CreditPolicyFact(name=name):
                if self._policies.get(name) != fact:
                    self._policies[name] = fact
                    self._reshaped = True
            case CreditGrantFact(name=name):
                self._grants[name] = fact
            case CreditAccountFact(cohort=cohort):
                self._accounts[cohort] = fact
            case CreditGone(kind=CreditKind.POLICY, name=name):
                self._reshaped |= self._policies.pop(name, None) is not None
            case CreditGone(kind=CreditKind.GRANT, name=name):
                self._grants.pop(name, None)
            case CreditGone(name=name):
                self._accounts.pop(CohortName(name), None)

    def note(self, key: Key, fact: WorkloadFact | None) -> None:
        """Note what a workload's status says now; None when it is gone."""
        if not self._policies:
            return
        tells_nothing = fact is None or fact.admission is None
        if tells_nothing and key not in self._entered and key not in self._changed:
            return
        self._changed.setdefault(key, []).append(fact)

    def reshape(self) -> None:
        """Note that quotas, weights or the structure of trees changed."""
        self._reshaped = bool(self._policies or self.books)

    # Time -------------------------------------------------------------------------------------

    def advance(
        self, tree: QuotaTree, workloads: "dict[Key, WorkloadFact]", now: float, *, bends: bool
    ) -> bool:
        """Bring the ledgers up to `now`; say whether shares changed.

        `bends` says that fair sharing is on.
        """
        if not self._policies and not self.books:
            self._started = True
            return False
        at = floor(now) - max((one.lag_s for one in self._policies.values()), default=0)
        changed = False
        if self._reshaped:
            changed = self._reshape(tree, workloads, at)
        self._take_changes(workloads, floor(now))
        self._take_grants()
        while self._events and self._events[0][0] <= at:
            when, _, act = heappop(self._events)
            act(self, tree, when)
        for book in self.books.values():
            book.group.advance(at)
        if bends:
            self.patience = {
                root: self._patience(policy, now) for root, policy in self._trees(tree)
            }
            if changed or self._next_tick is None or at >= self._next_tick:
                changed |= self._bend(tree, at)
        self._started = True
        return changed

    def wakes(self, now: float) -> list[Key]:
        """Return who has run long enough by now to be a victim for the sake of shares."""
        found = []
        while self._runtimes and self._runtimes[0][0] <= now:
            found.append(heappop(self._runtimes)[1])
        return found

    def next_at(self) -> float | None:
        """Return when time alone may change a share, or whom shares may take; None for never."""
        if not self.books:
            return None
        lag = max((one.lag_s for one in self._policies.values()), default=0)
        times = [] if self._next_tick is None else [float(self._next_tick + lag)]
        if self._runtimes:
            times.append(self._runtimes[0][0])
        return min(times, default=None)

    # Answers ----------------------------------------------------------------------------------

    def records(self, workloads: "dict[Key, WorkloadFact]") -> Iterator[CreditAccountFact]:
        """Return every ledger as it is to be stored, by name of the cohort."""
        leaving = sorted(self._leaving(workloads), key=_uid_and_time)
        for cohort, book in sorted(self.books.items()):
            names = {one.name for one in _queues_below(book.node)}
            names_of_grants = {one.uid: one.name for one in self._grants.values()}
            yield CreditAccountFact(
                cohort=cohort,
                as_of=book.group.at,
                policy=book.policy.name,
                unit=book.policy.unit,
                children=book.group.records(book.exponents),
                sinks=dict(book.group.sinks),
                leavers=tuple(
                    LeaverRecord(
                        uid=one.uid,
                        queue=one.queue,
                        priority=one.priority,
                        since=one.since,
                        until=one.until,
                        usage=one.usage,
                    )
                    for one in leaving
                    if one.queue in names and (one.until is None or one.until > book.group.at)
                ),
                grants=dict(book.grants),
                grant_names={uid: names_of_grants.get(uid, "") for uid in book.grants},
            )

    def covers(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the end of a workload stands in the accounts that were stored last."""
        entered = self._entered.get(key)
        if entered is None or entered.holding.until is None:
            return key not in self._changed
        queue = entered.holding.queue
        if not tree.has_queue(queue):
            return True
        return all(
            self._stored(cohort) >= entered.holding.until
            for above in tree.queue(queue).ancestors()
            if (cohort := CohortName(above.name)) in self.books
        )

    def recorded(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the stored accounts name an evicted workload that still holds quota."""
        entered = self._entered.get(key)
        return key not in self._changed and (entered is None or self._names(entered.holding, tree))

    def settled(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the stored accounts hold, or name, what a workload held before."""
        left = self._released.get(key)
        return key not in self._changed and (left is None or self._names(left, tree))

    def _names(self, holding: Holding, tree: QuotaTree) -> bool:
        """Say whether every stored account above a holding tells as much of it as we know."""
        if not tree.has_queue(holding.queue):
            return True
        wanted = holding.uid, holding.since, holding.until
        for above in tree.queue(holding.queue).ancestors():
            cohort = CohortName(above.name)
            if cohort not in self.books:
                continue
            if holding.until is not None and self._stored(cohort) >= holding.until:
                continue
            known = self._accounts.get(cohort)
            leavers = () if known is None else known.leavers
            if wanted not in {(one.uid, one.since, one.until) for one in leavers}:
                return False
        return True

    def _leaving(self, workloads: "dict[Key, WorkloadFact]") -> Iterator[Holding]:
        """Go over those whose status tells no more of what they held, or soon will not."""
        for key, entered in self._entered.items():
            fact = workloads.get(key)
            if fact is not None and fact.is_true("Evicted") and not fact.is_true("Finished"):
                yield entered.holding
        yield from self._ends.values()

    def governed(self, tree: QuotaTree) -> dict[str, tuple[CohortName, ...]]:
        """Return the root cohorts that each policy has."""
        found: dict[str, tuple[CohortName, ...]] = dict.fromkeys(self._policies, ())
        for root, policy in self._trees(tree):
            found[policy.name] = (*found[policy.name], CohortName(root.name))
        return found

    def _stored(self, cohort: CohortName) -> int:
        known = self._accounts.get(cohort)
        return -1 if known is None or known.as_of is None else known.as_of

    # Structure --------------------------------------------------------------------------------

    def _trees(self, tree: QuotaTree) -> Iterator[tuple[Node, CreditPolicyFact]]:
        """Go over the trees that a policy counts in: one that names the root goes before others."""
        policies = [self._policies[name] for name in sorted(self._policies)]
        for root in tree.root_cohorts():
            named = (one for one in policies if root.name in one.root_cohorts)
            general = (one for one in policies if not one.root_cohorts)
            policy = next(named, None) or next(general, None)
            if policy is not None and policy.mode is not Mode.OFF:
                yield root, policy

    def _reshape(self, tree: QuotaTree, workloads: "dict[Key, WorkloadFact]", at: int) -> bool:
        """Open and close ledgers, and let all go by the present quotas from `at` on."""
        self._reshaped = False
        if not self.books:
            self._changed.update((key, [fact]) for key, fact in workloads.items())
        wanted = {
            CohortName(node.name): (node, policy)
            for root, policy in self._trees(tree)
            for node in _cohorts_below(root)
            if any(True for _ in node.children())
        }
        before, self.books = self.books, {}
        for book in before.values():
            book.group.advance(at)
        for name, (node, policy) in sorted(wanted.items()):
            known = before.get(name)
            if known is not None and known.node is node and known.policy == policy:
                self.books[name] = known
            else:
                self.books[name] = self._open(name, node, policy, at, known)
        for book in before.values():
            for child in book.children.values():
                tree.bend(child, None)
        for book in self.books.values():
            book.reshape(list(self._under(tree, book.node)))
        return True

    def _open(
        self, name: CohortName, node: Node, policy: CreditPolicyFact, at: int, known: Book | None
    ) -> Book:
        """Go on from a ledger under other terms, from what is stored, or from nothing."""
        stored = self._accounts.get(name)
        if known is not None:
            book = Book(node, policy, known.group.at)
            book.group.resume(known.group.records({}), known.group.sinks)
            book.grants.update(known.grants)
        elif stored is not None and stored.as_of is not None:
            book = Book(node, policy, stored.as_of)
            book.group.resume(stored.children, stored.sinks)
            book.grants.update(stored.grants)
            if self._started:
                book.group.advance(at)
            else:
                self._recall_leavers(stored)
        else:
            book = Book(node, policy, at)
        return book

    def _recall_leavers(self, stored: CreditAccountFact) -> None:
        """Count workloads that were about to leave when this was stored, if they have since left.

        Whoever still holds the same quota is known by its status. Nobody can tell when one left
        that has gone altogether, or holds quota again: it counts up to what was stored.
        """
        for one in stored.leavers:
            holding = Holding(
                uid=one.uid,
                queue=one.queue,
                priority=one.priority,
                usage=one.usage,
                since=one.since,
                until=one.until,
            )
            key = _leaver_key(holding)
            self._changed[key] = []
            if key not in self._entered or holding.until is not None:
                self._entered[key] = Entered(-1, holding)

    def _under(self, tree: QuotaTree, cohort: Node) -> Iterator[tuple[Node, Holding]]:
        for _, holding in sorted(self._counted.items()):
            if tree.has_queue(holding.queue):
                queue = tree.queue(holding.queue)
                if cohort in queue.ancestors():
                    yield queue, holding

    # Holdings ---------------------------------------------------------------------------------

    def _take_changes(self, workloads: "dict[Key, WorkloadFact]", now: int) -> None:
        """Plan the beginnings and ends of holdings that statuses tell of."""
        for key, facts in list(self._changed.items()):
            known = self._entered.get(key)
            if known is not None and known.token < 0:
                self._settle_leaver(key, known.holding, workloads)
            for fact in facts:
                self._take_change(key, fact, now)
        self._changed.clear()

    def _take_change(self, key: Key, fact: WorkloadFact | None, now: int) -> None:
        known = self._entered.get(key)
        found = None if fact is None else holding_of(fact)
        if known is not None and not (found and _continues(known.holding, found)):
            same = found is not None and _is_same_stay(known.holding, found)
            when = _end_of(known.holding, fact, found, now)
            ended = self._end(known, when, is_told=same)
            del self._entered[key]
            self._forget_or_remember(key, fact, ended)
            known = None if found is None else self._changed_terms(known, found, key, now)
        if found is None:
            return
        if known is None:
            known = self._begin(key, found)
        if found.until is not None and known.holding.until is None:
            self._end(known, found.until, is_told=True)
            self._entered[key] = Entered(known.token, found)

    def _forget_or_remember(self, key: Key, fact: WorkloadFact | None, ended: Holding) -> None:
        """Remember what a workload held that lives on without telling of it."""
        if fact is None:
            self._released.pop(key, None)
        elif ended.until is not None:
            self._released[key] = ended

    def _changed_terms(self, old: Entered, found: Holding, key: Key, now: int) -> Entered | None:
        """Begin anew, from now on, a holding of which only what it holds changed."""
        if not _is_same_stay(old.holding, found):
            return None
        return self._begin(key, replace(found, since=max(now, found.since)), told=found)

    def _settle_leaver(self, key: Key, left: Holding, workloads: "dict[Key, WorkloadFact]") -> None:
        del self._entered[key]
        fact = next((one for one in workloads.values() if one.uid == left.uid), None)
        found = None if fact is None else holding_of(fact)
        if found is not None and found.since == left.since:
            return
        until = left.until
        if until is None and fact is not None and found is None:
            until = released_at(fact)
        entered = self._begin(key, replace(left, until=None))
        del self._entered[key]
        self._end(entered, left.since if until is None else until)

    def _begin(self, key: Key, holding: Holding, *, told: Holding | None = None) -> Entered:
        self._sequence += 1
        token = self._sequence

        def begin(self: "Credits", tree: QuotaTree, when: int) -> None:
            self._counted[token] = holding
            self._book(tree, holding, when, 1)

        heappush(self._events, (holding.since, token, begin))
        self._entered[key] = Entered(token, replace(told or holding, until=None))
        runtimes = [one.minimum_runtime_s for one in self._policies.values()]
        if any(runtimes):
            heappush(self._runtimes, (float(holding.since + max(runtimes)), key))
        return self._entered[key]

    def _end(self, entered: Entered, when: int, *, is_told: bool = False) -> Holding:
        """Plan the end of a holding, which the status may tell of later too; return it."""
        if entered.holding.until is not None:
            return entered.holding
        self._sequence += 1
        until = max(when, entered.holding.since)
        ended = replace(entered.holding, until=until)
        if not is_told:
            self._ends[entered.token] = ended

        def end(self: "Credits", tree: QuotaTree, at: int) -> None:
            self._ends.pop(entered.token, None)
            holding = self._counted.pop(entered.token, None)
            if holding is not None:
                self._book(tree, holding, at, -1)

        heappush(self._events, (until, self._sequence, end))
        return ended

    def _book(self, tree: QuotaTree, holding: Holding, when: int, sign: int) -> None:
        """Count a holding in or out in every ledger above its queue."""
        if not tree.has_queue(holding.queue):
            return
        queue = tree.queue(holding.queue)
        for above in queue.ancestors():
            book = self.books.get(CohortName(above.name))
            if book is not None:
                book.group.advance(when)
                book.book(queue, holding, sign)

    # Grants -----------------------------------------------------------------------------------

    def _take_grants(self) -> None:
        for name in sorted(self._grants):
            grant = self._grants[name]
            if grant.uid not in self._queued_grants:
                self._queued_grants[grant.uid] = None
                self._plan(grant.at, grant, expired=False)
                if grant.expires_at is not None:
                    self._plan(grant.expires_at, grant, expired=True)

    def _plan(self, when: int, grant: CreditGrantFact, *, expired: bool) -> None:
        self._sequence += 1

        def act(self: "Credits", _: QuotaTree, at: int) -> None:
            for book in self.books.values():
                if grant.receiver in book.children:
                    book.group.advance(at)
                    _grant(book, grant, expired=expired)

        heappush(self._events, (when, self._sequence, act))

    # Weights ----------------------------------------------------------------------------------

    def _bend(self, tree: QuotaTree, at: int) -> bool:
        """Bend weights by balances; say whether any changed."""
        changed = False
        step = min(
            (max(1, one.horizon_s // TICKS_PER_HORIZON) for one in self._policies.values()),
            default=1,
        )
        self._next_tick = (at // step + 1) * step
        for book in self.books.values():
            before = book.exponents
            if book.measure() == before:
                continue
            changed = True
            for member, steps in book.exponents.items():
                tree.bend(book.children[member], bend.factor(steps) if steps else None)
        return changed

    def _patience(self, policy: CreditPolicyFact, now: float) -> Patience:
        if not policy.minimum_runtime_s:
            return Patience(policy.hysteresis)
        return Patience(policy.hysteresis, now - policy.minimum_runtime_s)


def _continues(known: Holding, found: Holding) -> bool:
    """Say whether a status tells of the holding that is known, perhaps of its end."""
    return (known.uid, known.since, known.queue, known.priority, known.usage) == (
        found.uid,
        found.since,
        found.queue,
        found.priority,
        found.usage,
    )


def _is_same_stay(known: Holding, found: Holding) -> bool:
    """Say whether only what a workload holds may have changed."""
    return (known.uid, known.since) == (found.uid, found.since)


def _end_of(known: Holding, fact: WorkloadFact | None, found: Holding | None, now: int) -> int:
    """Return when a holding ended that a status no longer tells of."""
    if fact is not None and found is None and fact.uid == known.uid:
        return released_at(fact) or now
    if found is not None and found.uid == known.uid and found.since > known.since:
        return found.since
    return now


def _leaver_key(holding: Holding) -> Key:
    """Name somebody who left and may be back under its own key."""
    return Key(f"/{holding.uid}/{holding.since}")


def _uid_and_time(holding: Holding) -> tuple[str, int]:
    return holding.uid, holding.since


def _grant(book: Book, grant: CreditGrantFact, *, expired: bool) -> None:
    """Book a grant, or take back what decay left of it; each only once."""
    booked = book.grants.get(grant.uid)
    if not expired and booked is None:
        if book.group.give(grant.receiver, grant.amount * PART):
            book.grants[grant.uid] = False
    elif expired and booked is False and grant.expires_at is not None:
        half_lives = (grant.expires_at - grant.at) / book.policy.half_life_s
        kept = round(float(0.5**half_lives) * _FINE)
        book.group.take_back(grant.receiver, grant.amount * PART * kept // _FINE)
        book.grants[grant.uid] = True


def _cohorts_below(root: Node) -> Iterator[Node]:
    yield root
    for child in sorted(root.children(), key=_name):
        if not child.is_queue:
            yield from _cohorts_below(child)


def _queues_below(node: Node) -> Iterator[Node]:
    for child in node.children():
        if child.is_queue:
            yield child
        else:
            yield from _queues_below(child)


def _name(node: Node) -> str:
    return node.name
