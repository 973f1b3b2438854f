"""Why pods have no place, in Kueue's words and with its numbers."""

from queueing.core.topology.choosing import TooFew
from queueing.core.topology.counts import Counts
from queueing.core.topology.requests import Search


def too_few(found: TooFew, counts: Counts, search: Search) -> str:
    """Return the message for a search that ended with room for too few slices."""
    wanted = search.slices
    unit = "pod" if search.size == 1 else "slice"
    told = f'topology "{counts.tree.topology}"'
    if len(search.layers) > 1:
        told += f" doesn't allow to fit{_by_layer(found.level, counts, search)}"
    elif found.slices:
        told += f" allows to fit only {found.slices} out of {wanted} {unit}(s)"
    else:
        told += f" doesn't allow to fit any of {wanted} {unit}(s)"
    return told + excluded(counts)


def _by_layer(level: int, counts: Counts, search: Search) -> str:
    """Return how many slices of each layer fit into the best domain of a level."""
    domains, room = counts.tree.domains, counts.room
    hosts = counts.tree.hosts and level == len(counts.tree.levels) - 1

    def key(domain: int) -> tuple[int, str]:
        path = domains.path[domain]
        return -room.slices[domain], path[-1] if hosts else ",".join(path)

    best = min(domains.live[level], key=key)
    told = ""
    for layer in search.layers:
        inside = domains.below(best, counts.tree.levels.index(layer.topology))
        fitting = sum(room.pods[one] // layer.size for one in inside)
        wanted = search.count // layer.size
        told += f"; {fitting}/{wanted} slice(s) fit on level {layer.topology}"
    return told


def excluded(counts: Counts) -> str:
    """Return how many leaves could not take even one pod, and why."""
    told = sorted(f"{why}: {number}" for why, number in counts.excluded().items())
    if not told:
        return ""
    nodes = len(counts.tree.domains.leaves)
    return f". Total nodes: {nodes}; excluded: {', '.join(told)}"
