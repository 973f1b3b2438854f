"""The kinds about credits and usage: what their definitions say beyond the schema.

Each rule stands in the definition, too, as an expression that the API server evaluates, with the
same words; here it is for who asks before anything is sent.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from queueing.webhooks.findings import (
    Finding,
    Wire,
    dig,
    entries,
    immutable,
    invalid,
    of_definition,
)
from queueing_api.config.duration import seconds_of
from queueing_api.quantity import NANO_PER_UNIT, parse


class Range(NamedTuple):
    """From where to where a value may go, in words too."""

    low: Fraction
    high: Fraction
    words: str

    def holds(self, value: Fraction) -> bool:
        """Say whether a value is within it."""
        return self.low <= value <= self.high


HOUR = 3600


def _times(low: float, high: float, words: str) -> Range:
    return Range(Fraction(low), Fraction(high), words)


YEARS = 87_600 * HOUR
TIMES: Mapping[str, Range] = MappingProxyType(
    {
        "halfLife": _times(60, YEARS, "at least 60s and at most 87600h"),
        "horizon": _times(1, 8760 * HOUR, "at least 1s and at most 8760h"),
        "minimumRuntime": _times(0, 8760 * HOUR, "at most 8760h"),
        "admissionHold": _times(0, HOUR, "at most 1h"),
        "debtLimit": _times(0, YEARS, "at most 87600h"),
    }
)
RETENTION = _times(HOUR, YEARS, "at least 1h and at most 87600h")
HYSTERESIS = _times(1, 16, "between 1 and 16")
PRICE = _times(0, 10**6, "between 0 and 1000000")
FACTOR = Range(Fraction(1, 1000), Fraction(10), "above 0 and at most 10")
AMOUNT = _times(-(10**9), 10**9, "at most 1000000000, either way")
GRANT = _times(0, 10**9, "between 0 and 1000000000")
NAMED_PERIODS = ("Daily", "Weekly", "Monthly", "Yearly")
PERIOD = _times(10, YEARS, "Daily, Weekly, Monthly, Yearly, or between 10s and 87600h")


def check_credit_policy(policy: Wire) -> list[Finding]:
    """Return all that is wrong with a CreditPolicy that its schema let in."""
    spec = policy.get("spec") or {}
    found = (
        *(one for field, range_ in TIMES.items() for one in _time(spec, "spec", field, range_)),
        *(
            one
            for field in ("hours", "days", "months")
            for one in _time(spec.get("usageRecords") or {}, "spec.usageRecords", field, RETENTION)
        ),
        *_amount(spec, "spec", "hysteresis", HYSTERESIS),
        *_each(policy, "prices", "price", PRICE),
        *_each(policy, "classFactors", "factor", FACTOR),
    )
    return list(of_definition(found))


def check_credit_grant(grant: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a CreditGrant that its schema let in; it never changes."""
    spec = grant.get("spec") or {}
    found = (*_amount(spec, "spec", "amount", AMOUNT), *_same_spec(grant, old))
    return list(of_definition(found))


def check_credit_account(account: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a CreditAccount: it is a cohort's or a queue's, for good."""
    spec = account.get("spec") or {}
    found = list(_same_spec(account, old))
    if (spec.get("cohortName") is None) == (spec.get("clusterQueueName") is None):
        told = "either cohortName or clusterQueueName must be set"
        found.append(invalid("spec", spec, told))
    return list(of_definition(found))


def check_usage_record(record: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a UsageRecord: its tree and time never change."""
    return list(of_definition(_same_spec(record, old)))


def check_credit_budget(budget: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a CreditBudget that its schema let in."""
    spec = budget.get("spec") or {}
    found = list(_amount(spec, "spec", "grant", GRANT))
    if old is not None and dig(budget, "spec", "holder") != dig(old, "spec", "holder"):
        found.append(immutable("spec.holder", spec.get("holder")))
    if spec.get("period") not in NAMED_PERIODS:
        found += _time(spec, "spec", "period", PERIOD)
    kind, home = dig(spec, "holder", "kind"), dig(spec, "holder", "namespace")
    if (kind == "LocalQueue") != (home is not None):
        told = "holder.namespace is for a LocalQueue, which needs it"
        found.append(invalid("spec.holder", kind, told))
    return list(of_definition(found))


def _same_spec(new: Wire, old: Wire | None) -> Iterator[Finding]:
    spec = new.get("spec") or {}
    if old is not None and spec != (old.get("spec") or {}):
        yield immutable("spec", spec)


def _each(policy: Wire, name: str, field: str, range_: Range) -> Iterator[Finding]:
    for index, one in enumerate(entries(policy, "spec", name)):
        yield from _amount(one, f"spec.{name}[{index}]", field, range_)


def _time(owner: Wire, path: str, field: str, range_: Range) -> Iterator[Finding]:
    value = owner.get(field)
    if value is not None and not range_.holds(Fraction(seconds_of(str(value)))):
        yield invalid(f"{path}.{field}", value, f"{field} must be {range_.words}")


def _amount(owner: Wire, path: str, field: str, range_: Range) -> Iterator[Finding]:
    value = owner.get(field)
    if value is None:
        return
    if not range_.holds(Fraction(parse(str(value)).nano, NANO_PER_UNIT)):
        yield invalid(f"{path}.{field}", value, f"{field} must be {range_.words}")
