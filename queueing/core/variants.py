"""Variants of a workload: one per flavor, of which one is admitted (concurrent admission).

Variants are workloads like others, each confined to one flavor. Their *parent*, which the job has,
is charged for nothing: it runs by the admission of one of them.
"""

from collections.abc import Collection, Sequence

from queueing.core.names import FlavorName, Uid
from queueing.core.values import value

OUTDONE = "A more favorable variant is already admitted"
RETAINED = "Another variant is already admitted"
BELOW_LAST = "Target flavor is below LastAcceptableFlavorName"
THROUGH_VARIANTS = "Admitted through one of its variants, each of which waits for one flavor"


@value()
class Variant:
    """What makes a workload a variant: whose, and in which flavor."""

    parent: Uid
    flavor: FlavorName


@value()
class Migration:
    """What a ClusterQueue lets variants do once another of the same workload is admitted."""

    retains_first: bool = False
    """Whether the one that is admitted first stays, whatever else becomes free."""
    last_acceptable: FlavorName | None = None
    """The least favorable flavor that is worth a migration; None for any."""


def place(flavor: FlavorName, flavors: Sequence[FlavorName]) -> int:
    """Return how favorable a flavor is, from 0 on; one that is not offered comes after all."""
    return flavors.index(flavor) if flavor in flavors else len(flavors)


def outdone(
    mine: FlavorName,
    admitted: Collection[FlavorName],
    flavors: Sequence[FlavorName],
    migration: Migration,
) -> str:
    """Return why a variant must not be tried while others are admitted; empty if it may be.

    `admitted` are the flavors of these others, `flavors` those of the queue in order of preference.
    """
    if not admitted:
        return ""
    rank = place(mine, flavors)
    if min(place(one, flavors) for one in admitted) < rank:
        return OUTDONE
    if migration.retains_first:
        return RETAINED
    return BELOW_LAST if is_below_last(mine, flavors, migration) else ""


def is_below_last(flavor: FlavorName, flavors: Sequence[FlavorName], migration: Migration) -> bool:
    """Say whether a flavor is less favorable than the last one that is worth a migration."""
    last = migration.last_acceptable
    return last is not None and place(flavor, flavors) > place(last, flavors)
