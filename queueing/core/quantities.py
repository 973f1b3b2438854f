"""Amounts as Kubernetes prints them, for messages."""

from functools import lru_cache

from queueing.core.names import ResourceName

_DECIMAL = (("E", 10**18), ("P", 10**15), ("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3))
_INT64_MAX = 2**63 - 1
_BINARY = (("Ei", 2**60), ("Pi", 2**50), ("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


@lru_cache(maxsize=4096)
def quantity(resource: ResourceName, amount: int) -> str:
    """Format an amount in the canonical form of its resource: `500m`, `2`, `1Gi`.

    Cpu is counted in milli-units; memory, ephemeral storage and huge pages print in powers of two,
    everything else in powers of ten. The largest suffix that leaves no fraction is used. Kueue
    counts in 64 bits, so what is more than that is told as the most that these can hold.
    Answers are kept, because most messages tell the same capacities.
    """
    amount = min(amount, _INT64_MAX)
    if resource == "cpu":
        if amount % 1000:
            return f"{amount}m"
        return _with_suffix(amount // 1000, _DECIMAL)
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return _with_suffix(amount, _BINARY)
    return _with_suffix(amount, _DECIMAL)


def _with_suffix(amount: int, suffixes: tuple[tuple[str, int], ...]) -> str:
    if amount:
        for suffix, unit in suffixes:
            if amount % unit == 0:
                return f"{amount // unit}{suffix}"
    return str(amount)
