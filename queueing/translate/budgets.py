"""CreditBudgets between objects and facts: what may be spent in, what was spent in and out."""

from typing import Any

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    BudgetAccountFact,
    BudgetFact,
    HolderKind,
)
from queueing.core.credits.period import CALENDAR, Period
from queueing.core.names import Uid
from queueing.translate import credits_wire as wire
from queueing.translate.credits import hours_text, leaver, leaver_entry, number
from queueing.translate.times import timestamp
from queueing_api.config.duration import seconds_of


def budget(found: wire.CreditBudget) -> BudgetFact:
    """Read a budget; its grant is in units of 3600 credits. Raises ValueError for no period."""
    spec, holder = found.spec, found.spec.holder
    kind = HolderKind(holder.kind)
    named = f"{holder.namespace}/{holder.name}" if kind is HolderKind.LOCAL_QUEUE else holder.name
    length = spec.period if spec.period in CALENDAR else max(1, int(seconds_of(spec.period)))
    return BudgetFact(
        name=found.metadata.name,
        kind=kind,
        holder=named,
        grant=int(number(spec.grant) * HOUR * MICRO),
        period=Period(length),
        blocks=spec.on_exhausted != "DemoteToOpportunistic",
        created=int(found.metadata.created),
    )


def budget_account(found: wire.CreditBudget) -> BudgetAccountFact:
    """Read what a budget's status tells."""
    status = found.status
    start = status.period_start
    return BudgetAccountFact(
        name=found.metadata.name,
        as_of=int(status.as_of.timestamp()) if status.as_of else None,
        period_start=int(start.timestamp()) if start else None,
        spent=status.spent_micro_credits,
        opportunistic=tuple(Uid(one) for one in status.opportunistic),
        leavers=tuple(leaver(one) for one in status.leavers),
    )


def budget_status(found: BudgetAccountFact) -> dict[str, Any]:
    """Spell what a budget has spent as it is stored, without its conditions."""
    return {
        "asOf": timestamp(found.as_of or 0),
        "periodStart": timestamp(found.period_start or 0),
        "periodEnd": timestamp(found.period_end or 0),
        "spent": hours_text(found.spent, found.unit),
        "held": hours_text(found.held, found.unit),
        "left": hours_text(found.left, found.unit),
        "spentMicroCredits": found.spent,
        "heldMicroCredits": found.held,
        "opportunistic": list(found.opportunistic),
        "leavers": [leaver_entry(one) for one in found.leavers],
    }
