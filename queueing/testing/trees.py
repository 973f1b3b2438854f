"""What a quota tree holds, as plain values, and whether that is what facts and usage say."""

from queueing.core.facts import ClusterQueueFact
from queueing.core.quota.tree import QuotaTree


def check(tree: QuotaTree) -> None:
    """Raise AssertionError unless everything equals a tree rebuilt from facts and usage."""
    fresh = QuotaTree()
    for node in (one for root in tree.roots() for one in root.subtree()):
        if isinstance(node.fact, ClusterQueueFact):
            fresh.put_queue(node.fact)
            usage = {fr: cell.usage for fr, cell in node.cells.items() if cell.usage}
            fresh.add_usage(node.fact.name, usage)
            held = {fr: cell.held for fr, cell in node.cells.items() if cell.held}
            fresh.hold(node.fact.name, held)
        elif node.fact is not None:
            fresh.put_cohort(node.fact)
    mine, theirs = picture(tree), picture(fresh)
    if mine != theirs:
        msg = f"quota tree drifted: {mine} is not {theirs}"
        raise AssertionError(msg)


def picture(tree: QuotaTree) -> dict[str, object]:
    """Return all of a tree that a decision may depend on, as plain comparable values."""
    return {
        f"{'queue' if node.is_queue else 'cohort'} {node.path()}": (
            node.height,
            (node.weight, node.divisor),
            {
                fr: (cell.limits, cell.entries, cell.quota, cell.local, cell.usage, cell.held)
                for fr, cell in sorted(node.cells.items())
                if cell.entries or cell.quota or cell.usage or cell.held
            },
        )
        for root in tree.roots()
        for node in root.subtree()
    }
