"""The ledger of one group of siblings: the children of a cohort, or the namespaces of a queue.

Invariants: balances and sinks sum to zero; reading a balance changes nothing; two ledgers with the
same changes of rates at the same times are equal, however often they were advanced.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import PART, ChildRecord, Member, Sink
from queueing.core.credits.market import NOTHING, Market, Marks, Position
from queueing.core.credits.partners import Partners
from queueing.core.names import FlavorName

WEIGHT_UNIT = 1_000_000
"""Parts of one in which fair-sharing weights are counted."""
REFUND_S = 900
"""For how many seconds, at most, what was paid for lost work is given back."""
KEPT_HALF_LIVES = 3
"""For how many half-lives the balance of a child that left is kept."""


@dataclass(slots=True)
class OpenPosition:
    """The position of a child, and the market's integrals when its account was last settled."""

    position: Position
    marks: Marks


@dataclass(slots=True)
class ChildAccount:
    """The account of one child; balances in `PART`s of a micro-credit, rates in micro-credits/s."""

    weight: int = 0
    entitlement: int = 0
    balance: int = 0
    earned: int = 0
    spent: int = 0
    wasted: int = 0
    paying: int = 0
    at: int = 0
    pool_mark: int = 0
    departed_at: int | None = None
    positions: dict[FlavorName, OpenPosition] = field(default_factory=dict)

    @property
    def is_active(self) -> bool:
        """Whether it lends or borrows anything; a child that left may still do so."""
        return any(one.position != NOTHING for one in self.positions.values())


@dataclass(frozen=True, slots=True)
class SiblingShare:
    """Weight and entitlement of a child among its siblings."""

    weight: int
    """In millionths."""
    entitlement: int
    """Micro-credits per second."""


class SiblingAccounts:
    """The accounts of siblings, up to the time `at`."""

    def __init__(self, at: int, *, decay: Decay, debt_limit_s: int) -> None:
        self.at = at
        self.accounts: dict[Member, ChildAccount] = {}
        self.markets: dict[FlavorName, Market] = {}
        self.sinks = dict.fromkeys(Sink, 0)
        self.partners = Partners()
        self._decay, self._debt_limit_s = decay, debt_limit_s
        self._next_point = decay.next_point(at)
        self._stale: dict[Market, None] = {}
        """Markets in which a position changed since time last passed."""
        self._pool_rate = self._pool_so_far = self._weights = 0

    # Time -------------------------------------------------------------------------------------

    def advance(self, to: int) -> None:
        """Let time pass up to `to` at the present rates; an earlier time changes nothing."""
        while self.at < to:
            end = min(to, self._next_point)
            self._pass_time(end - self.at)
            self.at = end
            if end == self._next_point:
                self._shrink()

    def _pass_time(self, seconds: int) -> None:
        if self._stale:
            self._reprice()
        whole = 0
        for market in self.markets.values():
            market.pass_time(seconds)
            self.sinks[Sink.IMPORTED] += PART * market.imported * seconds
            self.sinks[Sink.CLASSES] += PART * (market.paying - market.borrowed) * seconds
            covered = PART * (market.lent + market.pooled)
            whole += (covered - market.idle * market.lent_rate) * seconds
        self._pool_so_far += self._pool_rate * seconds
        self.sinks[Sink.ROUNDING] += whole - self._weights * self._pool_rate * seconds

    def _shrink(self) -> None:
        """Apply one step of decay, forgive debt beyond the limit, and drop old accounts."""
        kept = self._decay.kept
        long_ago = self.at - KEPT_HALF_LIVES * self._decay.half_life_s
        for member, account in list(self.accounts.items()):
            self._settle(member, account)
            left = shrink(account.balance, kept)
            self.sinks[Sink.DECAYED] += account.balance - left
            account.balance = left
            floor = -PART * self._debt_limit_s * account.entitlement
            if account.departed_at is None:
                if left < floor:
                    self._adjust(account, floor, Sink.FORGIVEN)
            elif account.departed_at <= long_ago and not account.is_active:
                self._adjust(account, 0, Sink.ADJUSTED)
                del self.accounts[member]
        self.partners.share_out()
        self._next_point = self._decay.next_point(self.at)

    def _settle(self, member: Member, account: ChildAccount) -> None:
        """Bring one account up to the group's time. It is exact, so it may be done at any time."""
        if account.at == self.at:
            return  # no integral has grown since
        spent = PART * account.paying * (self.at - account.at)
        earned = account.weight * (self._pool_so_far - account.pool_mark)
        account.at, account.pool_mark = self.at, self._pool_so_far
        for flavor, known in account.positions.items():
            now, before = self.markets[flavor].so_far, known.marks
            lent = known.position.idle * (now.lent - before.lent)
            taken = known.position.borrowed * (now.taken - before.taken)
            pooled = known.position.borrowed * (now.pooled - before.pooled)
            known.marks = now
            earned += lent
            if lent or taken or pooled:
                self.partners.note(member, Marks(lent, taken, pooled))
        account.balance += earned - spent
        account.earned += earned
        account.spent += spent

    # Changes of rates -------------------------------------------------------------------------

    def place(self, member: Member, flavor: FlavorName, position: Position) -> None:
        """Set what a child lends and borrows in a flavor from the group's time on."""
        account, market = self.accounts[member], self._market(flavor)
        known = account.positions.get(flavor)
        if known is None:
            known = account.positions[flavor] = OpenPosition(NOTHING, market.so_far)
        elif known.position == position:
            return
        self._settle(member, account)
        account.paying += position.paying - known.position.paying
        market.change(known.position, position)
        known.position = position
        self._stale[market] = None

    def clear(self) -> None:
        """Let no child lend or borrow anything from the group's time on."""
        for member, account in self.accounts.items():
            self._settle(member, account)
            for flavor in list(account.positions):
                self.place(member, flavor, NOTHING)

    def reshape(
        self,
        members: Mapping[Member, SiblingShare],
        pools: Mapping[FlavorName, int],
        *,
        kept: tuple[int, int] | None = None,
    ) -> None:
        """Set the children, and the cohort's own quota (`pools`); the caller sets positions again.

        A new child starts at the mean of its siblings' balances if that is debt, else at 0. A child
        that leaves keeps its balance for `KEPT_HALF_LIVES`, and resumes it if it comes back. A
        surplus shrinks with the child's entitlement, or by the fraction `kept` (part, of) if given.
        """
        self.clear()
        present = [one for one in self.accounts.values() if one.departed_at is None]
        mean = sum(one.balance for one in present) // len(present) if present else 0
        for member, standing in sorted(members.items()):
            known = self.accounts.get(member)
            if known is None:
                known = self.accounts[member] = ChildAccount(
                    at=self.at, pool_mark=self._pool_so_far
                )
                self._adjust(known, min(0, mean), Sink.ADJUSTED)
            else:
                part, of = kept or (standing.entitlement, known.entitlement)
                if known.balance > 0 and part < of:
                    self._adjust(known, known.balance * part // of, Sink.ADJUSTED)
            known.weight, known.entitlement = standing.weight, standing.entitlement
            known.departed_at = None
        for member, account in self.accounts.items():
            if member not in members and account.departed_at is None:
                account.departed_at, account.weight = self.at, 0
        self._weights = sum(one.weight for one in self.accounts.values())
        for flavor in {*pools, *self.markets}:
            market = self._market(flavor)
            market.pool = pools.get(flavor, 0)
            self._stale[market] = None

    def know(self, member: Member) -> None:
        """Make sure that a member has an account, if need be like a child that left, to pay."""
        if member not in self.accounts:
            mark = self._pool_so_far
            self.accounts[member] = ChildAccount(at=self.at, pool_mark=mark, departed_at=self.at)

    def give(self, member: Member, amount: int) -> None:
        """Book a grant, in `PART`s, which may be negative."""
        account = self._settled(member)
        self._adjust(account, account.balance + amount, Sink.GRANTED)

    def take_back(self, member: Member, amount: int) -> None:
        """Take back what is left of a grant, as far as the balance is positive."""
        account = self._settled(member)
        left = min(max(account.balance, 0), amount)
        self._adjust(account, account.balance - left, Sink.GRANTED)

    def present(self) -> set[Member]:
        """Return the present children."""
        return {member for member, one in self.accounts.items() if one.departed_at is None}

    def hand_over(self, member: Member) -> int:
        """Remove the debt of a child that moved to another group; return it, negative or 0."""
        account = self._settled(member)
        debt = min(0, account.balance)
        self._adjust(account, account.balance - debt, Sink.ADJUSTED)
        return debt

    def take_over(self, member: Member, debt: int) -> None:
        """Add the debt of a child that came from another group.

        If it has a surplus here, that pays for the debt; if it has debt here, the larger one
        counts.
        """
        account = self._settled(member)
        before = account.balance
        after = before + debt if before > 0 else min(before, debt)
        self._adjust(account, after, Sink.ADJUSTED)

    def lose(self, member: Member, cost: int, seconds: int) -> None:
        """Count work that an eviction lost, which cost so many micro-credits per second."""
        self._settled(member).wasted += PART * cost * seconds

    def refund(
        self, member: Member, flavor: FlavorName, part: tuple[int, int], seconds: int
    ) -> None:
        """Give back a part (of a whole) of what a child pays now, for `REFUND_S` at most."""
        account, (cost, whole) = self._settled(member), part
        known = account.positions.get(flavor)
        if known is not None and whole:
            refund = PART * known.position.paying * cost // whole * min(seconds, REFUND_S)
            self._adjust(account, account.balance + refund, Sink.REFUNDED)

    # Reading ----------------------------------------------------------------------------------

    def balance(self, member: Member) -> int:
        """Return a child's balance at the group's time."""
        return self._settled(member).balance

    def paying(self, member: Member) -> dict[FlavorName, int]:
        """Return what a child pays from the group's time on, in micro-credits per second."""
        known = self.accounts[member].positions.items()
        return {flavor: one.position.paying for flavor, one in known if one.position.paying}

    def records(
        self, exponents: Mapping[Member, int], held: Mapping[Member, int]
    ) -> tuple[ChildRecord, ...]:
        """Return the records of all accounts, sorted, as they are to be stored."""
        for member, account in self.accounts.items():
            self._settle(member, account)
        self.partners.share_out()
        return tuple(
            ChildRecord(
                member=member,
                balance=account.balance,
                earned=account.earned,
                spent=account.spent,
                entitlement=account.entitlement,
                exponent=exponents.get(member, 0),
                lent_to=self.partners.lent_by(member),
                borrowed_from=self.partners.borrowed_by(member),
                wasted=account.wasted,
                departed_at=account.departed_at,
                held=held.get(member, 0),
            )
            for member, account in sorted(self.accounts.items())
        )

    def resume(self, children: Iterable[ChildRecord], sinks: Mapping[Sink, int]) -> None:
        """Restore accounts and sinks from stored records; called before the first `reshape`."""
        for one in children:
            self.accounts[one.member] = ChildAccount(
                entitlement=one.entitlement,
                balance=one.balance,
                earned=one.earned,
                spent=one.spent,
                wasted=one.wasted,
                at=self.at,
                departed_at=one.departed_at,
            )
            self.partners.resume(one)
        self.sinks.update(sinks)

    # Inside -----------------------------------------------------------------------------------

    def _settled(self, member: Member) -> ChildAccount:
        account = self.accounts[member]
        self._settle(member, account)
        return account

    def _market(self, flavor: FlavorName) -> Market:
        found = self.markets.get(flavor)
        if found is None:
            found = self.markets[flavor] = Market()
        return found

    def _adjust(self, account: ChildAccount, balance: int, sink: Sink) -> None:
        self.sinks[sink] += account.balance - balance
        account.balance = balance

    def _reprice(self) -> None:
        """Compute the rates that apply from now on, where positions changed."""
        for market in self._stale:
            market.reprice()
        self._stale.clear()
        pooled = sum(market.pooled for market in self.markets.values())
        self._pool_rate = PART * pooled // self._weights if self._weights else 0
