"""Rules of CreditPolicy, CreditGrant, CreditAccount, CreditBudget and UsageRecord."""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule


def _between(path: str, field: str, low: str, high: str, words: str) -> Rule:
    number = f"quantity(string(self.{field}))"
    return Rule(
        path,
        f"!has(self.{field}) || ({number}.compareTo(quantity('{low}')) >= 0"
        f" && {number}.compareTo(quantity('{high}')) <= 0)",
        f"{field} must be {words}",
        field=f".{field}",
    )


_TIMES: Final = (
    ("halfLife", "60s", "87600h", "at least 60s and at most 87600h"),
    ("horizon", "1s", "8760h", "at least 1s and at most 8760h"),
    ("minimumRuntime", "0s", "8760h", "at most 8760h"),
    ("admissionHold", "0s", "1h", "at most 1h"),
    ("debtLimit", "0s", "87600h", "at most 87600h"),
)
CREDIT_POLICY: Final = (
    *(
        Rule(
            "spec",
            f"!has(self.{field}) || (duration(self.{field}) >= duration('{low}')"
            f" && duration(self.{field}) <= duration('{high}'))",
            f"{field} must be {words}",
            field=f".{field}",
        )
        for field, low, high, words in _TIMES
    ),
    *(
        Rule(
            "spec.usageRecords",
            f"!has(self.{field}) || (duration(self.{field}) >= duration('1h')"
            f" && duration(self.{field}) <= duration('87600h'))",
            f"{field} must be at least 1h and at most 87600h",
            field=f".{field}",
        )
        for field in ("hours", "days", "months")
    ),
    _between("spec", "hysteresis", "1", "16", "between 1 and 16"),
    _between("spec.prices[]", "price", "0", "1000000", "between 0 and 1000000"),
    _between("spec.classFactors[]", "factor", "1m", "10", "above 0 and at most 10"),
)
CREDIT_GRANT: Final = (
    Rule("spec", "self == oldSelf", FIELD_IS_IMMUTABLE),
    _between("spec", "amount", "-1000000000", "1000000000", "at most 1000000000, either way"),
)
CREDIT_ACCOUNT: Final = (
    Rule("spec", "self == oldSelf", FIELD_IS_IMMUTABLE),
    Rule(
        "spec",
        "has(self.cohortName) != has(self.clusterQueueName)",
        "either cohortName or clusterQueueName must be set",
    ),
)
USAGE_RECORD: Final = (Rule("spec", "self == oldSelf", FIELD_IS_IMMUTABLE),)
_NAMED_PERIODS: Final = "['Daily', 'Weekly', 'Monthly', 'Yearly']"
CREDIT_BUDGET: Final = (
    _between("spec", "grant", "0", "1000000000", "between 0 and 1000000000"),
    Rule(
        "spec",
        f"!has(self.period) || self.period in {_NAMED_PERIODS}"
        " || (duration(self.period) >= duration('10s')"
        " && duration(self.period) <= duration('87600h'))",
        "period must be Daily, Weekly, Monthly, Yearly, or between 10s and 87600h",
        field=".period",
    ),
    Rule(
        "spec",
        "(self.holder.kind == 'LocalQueue') == has(self.holder.__namespace__)",
        "holder.namespace is for a LocalQueue, which needs it",
        field=".holder",
    ),
    Rule("spec", "self.holder == oldSelf.holder", FIELD_IS_IMMUTABLE, field=".holder"),
)
