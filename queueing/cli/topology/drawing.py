"""A topology on a terminal: a table of its levels, a tree of its domains, and whom it costs.

And where the pods of one pod set go.
"""

from collections.abc import Iterable, Mapping

from rich.text import Text
from rich.tree import Tree

from queueing.cli.tables import Cell, made, rendered
from queueing.explain.domain_model import Seat
from queueing.explain.layout import Layout, Space
from queueing.explain.openings import Openings, Stopped

NAMED = 4
"""How many workloads of a node, or of a domain that is opened, are named."""
DRAWN = 8
"""How many domains of a domain are drawn of those where pods of a pod set go."""


def levels(layout: Layout) -> str:
    """Return a line per level."""
    rows = [
        [
            Cell(one.name),
            Cell(str(one.domains)),
            Cell(str(one.fits)),
            Cell(f"{one.most} ({one.best})" if one.best else "0"),
            Cell("-" if one.fragmentation is None else f"{one.fragmentation:.0%}"),
        ]
        for one in layout.levels
    ]
    return rendered(made(("LEVEL", "DOMAINS", "FIT", "MOST IN ONE", "FRAGMENTED"), rows))


def spaces(layout: Layout) -> str:
    """Return the domains as a tree, and who sits on each node."""
    if not layout.domains:
        return "No node has a place in it."
    return "\n".join(rendered(_tree(one)) for one in layout.domains)


def _tree(space: Space, above: Tree | None = None) -> Tree:
    label = Text.assemble((space.name, "bold"), f"  {_room(space)}", (_who(space.seats), "dim"))
    branch = Tree(label, guide_style="dim") if above is None else above.add(label)
    for one in space.domains:
        _tree(one, branch)
    return branch


def seated(title: str, by: str, pods: Mapping[tuple[str, ...], int]) -> Tree:
    """Return where pods go as a tree: numbers of pods, by the domains from the widest level on."""
    tree = Tree(Text.assemble((title, "bold"), (f" by {by}", "dim")), guide_style="dim")
    _seat(tree, pods)
    return tree


def _seat(above: Tree, pods: Mapping[tuple[str, ...], int]) -> None:
    within: dict[str, dict[tuple[str, ...], int]] = {}
    for (name, *rest), count in pods.items():
        within.setdefault(name, {})[tuple(rest)] = count
    for name, inner in list(within.items())[:DRAWN]:
        branch = above.add(Text(f"{name}  {_pods(sum(inner.values()))}"))
        if () not in inner:
            _seat(branch, inner)
    left = [*within.values()][DRAWN:]
    if left:
        count = sum(sum(one.values()) for one in left)
        above.add(Text(f"{len(left)} more  {_pods(count)}", style="dim"))


def _pods(count: int) -> str:
    return f"{count} pod{'s' * (count != 1)}"


def _room(space: Space) -> str:
    free = ", ".join(
        f"{amount} of {space.room[resource]} {resource}"
        for resource, amount in space.free.items()
        if resource != "pods"
    )
    return f"{space.fits} fit, free {free}"


def _who(seats: Iterable[Seat]) -> str:
    told = [f"{one.workload} ({one.pods}{', leaving' * one.leaving})" for one in seats]
    return f"  {_listed(told)}" if told else ""


def _listed(told: list[str]) -> str:
    more = [f"{len(told) - NAMED} more"] if len(told) > NAMED else []
    return ", ".join(told[:NAMED] + more)


def openings(opened: Openings) -> str:
    """Return what it would cost to fit pods into one domain, the cheapest first."""
    what = f"{opened.count} pods in one {opened.level}"
    if not opened.openings:
        whom = "" if opened.below is None else f" of workloads below priority {opened.below}"
        return f"{what}: no domain has room, whoever is stopped{whom}."
    lines = [f"{what}:"]
    for one in opened.openings:
        cost = "nobody has to go" if not one.stopped else f"stop {_listed(_names(one.stopped))}"
        lines.append(f"  {one.domain}: {cost}; then {one.fits} fit")
    return "\n".join(lines)


def _movable(one: Stopped) -> str:
    return ", movable" if one.movable else ""


def _names(stopped: Iterable[Stopped]) -> list[str]:
    return [
        f"{one.workload} (leaving)"
        if one.leaving
        else f"{one.workload} (priority {one.priority}, {one.pods} pods{_movable(one)})"
        for one in stopped
    ]
