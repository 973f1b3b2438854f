"""CreditBudget: a hard bound on what a queue or cohort may spend in each period."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC, list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.queueing.v1alpha1.credit_account import CreditLeaver
from queueing_api.queueing.v1alpha1.credit_policy import ShortQuantity
from queueing_api.wire import DnsLabel, DnsSubdomain, Int64, Time, Wire

PERIOD_PATTERN = r"^(Daily|Weekly|Monthly|Yearly|([0-9]+(s|m|h))+)$"


class CreditBudgetHolder(Wire):
    """Whose workloads spend the budget."""

    kind: Literal["LocalQueue", "ClusterQueue", "Cohort"]
    """Kind of the holder. A Cohort stands for all queues below it."""
    name: DnsSubdomain
    """Name of the holder."""
    namespace: DnsLabel | None = None
    """Namespace of a LocalQueue."""


class CreditBudgetSpec(Wire):
    """How much may be spent by whom, how often, and what happens beyond."""

    holder: CreditBudgetHolder
    """Whose workloads spend the budget; every budget that a workload falls under counts."""
    grant: ShortQuantity
    """What may be spent in each period, in units of 3600 credits. What is left of it lapses."""
    period: Annotated[str, Field(max_length=32, pattern=PERIOD_PATTERN)] = "Monthly"
    """Daily, Weekly (from Monday), Monthly or Yearly, in UTC, or a length of time such as 12h,
    counted from the epoch."""
    on_exhausted: Literal["Block", "DemoteToOpportunistic"] = "Block"
    """What becomes of a workload of which a run for its maximum execution time would cost more
    than is left. Block: it waits. DemoteToOpportunistic: it may use what is free, preempts nobody,
    and anybody may preempt it; it does not spend the budget."""


class CreditBudgetStatus(Wire):
    """What was spent in this period, and what is held for those who run."""

    as_of: Time | None = None
    """Up to when everything is counted."""
    period_start: Time | None = None
    """When the period began that the amounts are of."""
    period_end: Time | None = None
    """When it ends."""
    spent: str = ""
    """What was spent, for people."""
    held: str = ""
    """What those who run may still cost, for people."""
    left: str = ""
    """What is neither spent nor held, for people."""
    spent_micro_credits: Int64 = 0
    """What was spent, in millionths of a credit."""
    held_micro_credits: Int64 = 0
    """What is held, in millionths of a credit."""
    opportunistic: Annotated[list[str], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """Lives of the workloads that run without spending it."""
    leavers: Annotated[list[CreditLeaver], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """Evicted workloads: those that still hold quota, and those that gave it back after asOf."""
    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Effective is False, and says why, while the budget binds nobody."""


class CreditBudget(KubeObject):
    """A hard bound on what the workloads of a queue or cohort may spend in each period.

    It costs by the prices of the CreditPolicy of its tree. A workload is let in when a run for its
    maximum execution time is covered by what is left; that much is held, and settled as it ends.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CreditBudget"] = "CreditBudget"
    spec: CreditBudgetSpec
    """How much may be spent by whom, how often, and what happens beyond."""
    status: CreditBudgetStatus = Field(default_factory=CreditBudgetStatus)
    """What was spent in this period, and what is held for those who run."""
