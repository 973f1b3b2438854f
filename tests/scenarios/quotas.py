"""Quotas of queues and cohorts as a line says them → resource groups."""

from collections.abc import Mapping
from typing import Any

from queueing_api.quantity import QuantityError, parse
from tests.scenarios.lines import Json, Line

DEFAULT = "default"
LIMITS = {"borrow": "borrowingLimit", "lend": "lendingLimit"}


def flavors_of(value: Any) -> list[str]:
    """Return the flavors of one resource, in the order in which they are tried."""
    return [str(one) for one in value] if isinstance(value, dict) else [DEFAULT]


def resource_groups(line: Line, amounts: Mapping[str, Any]) -> list[Json]:
    """Return the groups of a line: resources of the same flavors are one group.

    `cpu: 4` is of the flavor `default`; `cpu: {spot: 4, default: 2}` names the flavors in order.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for resource, value in amounts.items():
        groups.setdefault(tuple(flavors_of(value)), []).append(resource)
    return [
        {
            "coveredResources": resources,
            "flavors": [
                {
                    "name": flavor,
                    "resources": [
                        {"name": one, **_quota(line, one, _of_flavor(amounts[one], flavor))}
                        for one in resources
                    ],
                }
                for flavor in flavors
            ],
        }
        for flavors, resources in groups.items()
    ]


def _of_flavor(value: Any, flavor: str) -> Any:
    return value[flavor] if isinstance(value, dict) else value


def _quota(line: Line, resource: str, written: Any) -> Json:
    """Read `4`, `4 borrow 2`, `4 lend 1` or `4 borrow 2 lend 1`."""
    nominal, *limits = str(written).split()
    found = {"nominalQuota": nominal}
    if len(limits) % 2 or not set(limits[::2]) <= LIMITS.keys():
        raise line.error(
            f"{written!r} is no quota: write 4, 4 borrow 2, 4 lend 1 or 4 borrow 2 lend 1", resource
        )
    found |= {LIMITS[word]: amount for word, amount in zip(limits[::2], limits[1::2], strict=True)}
    return {field: _number(quantity(line, amount, resource)) for field, amount in found.items()}


def _number(written: str) -> str | int:
    """Return a whole number as people write it in manifests."""
    return int(written) if written.removeprefix("-").isdigit() else written


def quantity(line: Line, written: Any, *word: str) -> str:
    """Return an amount as text. Raises ManifestError where it is none."""
    try:
        parse(str(written))
    except QuantityError as error:
        raise line.error(str(error), *word) from error
    return str(written)
