"""A new place for the pods of one failed node; all others stay where they are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from queueing.core.names import FlavorName
from queueing.core.topology.assignment import Assignment, Domain, Unplaced
from queueing.core.topology.forest import Forest
from queueing.core.topology.nearness import home
from queueing.core.topology.placement import Places, assume
from queueing.core.topology.requests import PODS, Layer, PodSetRequest
from queueing.core.topology.searching import SearchTerms, merged, search
from queueing.core.topology.tree import Tree


def replace_node(
    forest: Forest,
    flavor: FlavorName,
    pod_sets: Sequence[PodSetRequest],
    node: str,
    terms: SearchTerms,
) -> Places:
    """Find another place for pods on a node; the forest is unchanged afterwards.

    Each pod set is placed alone, also one of a group. Those without a `current` assignment are left
    out, and those with nothing on the node keep theirs. The first without a place ends the search.
    The workload's own usage must still be charged. The node itself may be open to the pods still:
    those that tolerate its taint for a while only are never put back there.
    """
    found: Places = {}
    with forest.attempt():
        _close(forest, flavor, node)
        for one in pod_sets:
            if one.current is None:
                continue
            lost = [domain for domain in one.current.domains if domain.values[-1] == node]
            if not lost:
                found[one.name] = one.current
                continue
            kept = tuple(domain for domain in one.current.domains if domain not in lost)
            moved = _moved(forest, flavor, replace(one, count=lost[0].count), kept, terms)
            if isinstance(moved, Unplaced) or not moved.domains:
                nothing = Unplaced(f"cannot find replacement assignment for unhealthy node: {node}")
                found[one.name] = moved if isinstance(moved, Unplaced) else nothing
                break
            assume(forest, flavor, one, moved)
            tree = home(forest.memories(flavor), one.topology).tree
            found[one.name] = merged(tree, kept, moved.domains)
    return found


def _close(forest: Forest, flavor: FlavorName, node: str) -> None:
    """Leave no pods to a node, so that no search chooses it; only inside an attempt."""
    tree = forest.tree(flavor)
    leaf = tree.domains.leaf_of.get(node)
    if leaf is not None and PODS in tree.room:
        forest.assume(flavor, {node: {PODS: max(tree.room[PODS][leaf], 0)}})


def _moved(
    forest: Forest,
    flavor: FlavorName,
    lost: PodSetRequest,
    kept: Sequence[Domain],
    terms: SearchTerms,
) -> Assignment | Unplaced:
    """Find domains for the lost pods, together with the kept ones as far as that is required."""
    memory = home(forest.memories(flavor), lost.topology)
    tree = memory.tree
    gone = next((one for one in kept if one.key not in tree.domains.leaf_of), None)
    if gone is not None:
        return Unplaced(
            "Cannot replace the node, because the existing topologyAssignment is invalid,"
            f" as it contains the stale domain {gone.values[0]}"
        )
    within, wanted = _confined(tree, lost, kept)
    placed = search(memory, wanted, None, terms, within)
    return placed if isinstance(placed, Unplaced) else placed.workers


def _confined(
    tree: Tree, lost: PodSetRequest, kept: Sequence[Domain]
) -> tuple[int | None, PodSetRequest]:
    """Return the domain that the lost pods must stay in, None for any, and how they are sliced.

    Pods that were part of a slice go where they make it whole again.
    """
    layers, required = lost.topology.slices, lost.topology.required
    if not kept:
        return None, lost
    leaves = [tree.domains.leaf_of[one.key] for one in kept]
    if layers and layers[0].size > 0 and lost.count % layers[0].size:
        broken = next(one for one in reversed(layers) if lost.count % max(one.size, 1))
        within = _broken_slice(tree, broken, lost.count, dict(zip(leaves, kept, strict=True)))
        if within is None:
            return None, lost
        whole = [one for one in layers if one.size > 0 and not lost.count % one.size]
        return within, replace(lost, topology=replace(lost.topology, slices=tuple(whole[-1:])))
    if required in tree.levels:
        return tree.domains.above(leaves[0], tree.levels.index(required)), lost
    return None, lost


def _broken_slice(tree: Tree, layer: Layer, lost: int, kept: Mapping[int, Domain]) -> int | None:
    """Return the first domain of a layer that the lost pods make whole slices of."""
    if layer.topology not in tree.levels:
        return None
    level, pods = tree.levels.index(layer.topology), Counter[int]()
    for leaf, domain in kept.items():
        pods[tree.domains.above(leaf, level)] += domain.count
    whole = [one for one, count in pods.items() if not (count + lost) % layer.size]
    return min(whole, key=tree.domains.path.__getitem__, default=None)
