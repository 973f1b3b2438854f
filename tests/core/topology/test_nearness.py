"""Further topologies over the nodes of one flavor: NVLink domains that lie across racks."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place
from queueing.core.topology.replacement import replace_node
from queueing.core.topology.tree import Node
from tests.core.topology.builders import (
    CPU,
    FLAVOR,
    LEVELS,
    MAIN,
    PODS,
    TERMS,
    node,
    pods,
    told,
    used,
)

LINK = {"link": ("nvlink", HOSTNAME)}
NODES = "a/r1/n1:2@d1 a/r1/n2:1@d2 a/r2/n3:2@d1 a/r2/n4:5@d2"


def linked(text: str) -> Node:
    """Read a node, and behind `@` its NVLink domain if it has one."""
    text, _, domain = text.partition("@")
    made = node(text)
    return replace(made, labels={**made.labels, "nvlink": domain}) if domain else made


def world(nodes: str = NODES, nearer: dict[str, tuple[str, ...]] | None = None) -> Forest:
    made = Forest()
    made.put_flavor(FLAVOR, "T", LEVELS)
    made.put_nearer(FLAVOR, LINK if nearer is None else nearer)
    for one in nodes.split():
        made.put_node(linked(one))
    return made


def ask(
    made: Forest, count: int, *, required: str | None = None, preferred: str | None = None
) -> str:
    """Return where pods go that ask for a level, or why nowhere."""
    wanted = {FLAVOR: [pods(count, required=required, preferred=preferred)]}
    return told(place(made, wanted, TERMS)[MAIN])


def test_what_is_charged_before_and_after_counts_in_the_further_topology() -> None:
    made = world()
    made.charge(used({"n1": {CPU: 1000, PODS: 1}}))
    made.put_nearer(FLAVOR, LINK)
    made.charge(used({"n3": {CPU: 1000, PODS: 1}}))
    assert ask(made, 2, required="nvlink") == "n1*1 n3*1"
    made.set_others("n3", {CPU: 1000, PODS: 1})
    assert ask(made, 2, required="nvlink") == "n4*2"


def test_a_domain_that_is_tried_and_too_small_leaves_no_trace() -> None:
    made = world()
    assert ask(made, 7, preferred="rack") == "n3*2 n4*5"
    assert ask(made, 4, preferred="rack") == "n1*2 n3*2"


def test_a_node_that_the_own_topology_sets_aside_has_no_place_in_a_further_one() -> None:
    made = world()
    made.put_node(Node(name="n9", labels={HOSTNAME: "n9", "nvlink": "d1"}, capacity={CPU: 9000}))
    assert "only 6 out of 7" in ask(made, 7, required="nvlink")


def test_a_further_topology_without_hosts_is_left_out() -> None:
    made = world(nearer={"link": ("nvlink",)})
    assert made.levels(FLAVOR) == LEVELS
    assert ask(made, 3, preferred="rack") == "n1*2 n2*1"


def test_pods_of_a_failed_node_stay_in_the_further_domain_that_they_require() -> None:
    made = world("a/r1/n1:2@d1 a/r1/lost:2@d1 a/r1/n2:2@d2 a/r2/n3:2@d1")
    made.charge(used({"lost": {CPU: 2000, PODS: 2}, "n1": {CPU: 2000, PODS: 2}}))
    made.drop_node("lost")
    asked = pods(4, required="nvlink", current="lost*2 n1*2")
    assert told(replace_node(made, FLAVOR, [asked], "lost", TERMS)[MAIN]) == "n1*2 n3*2"


SEATS = st.builds(
    "a/{}/n{}:{}{}".format,
    st.sampled_from(["r1", "r2"]),
    st.integers(1, 5),
    st.integers(0, 4),
    st.sampled_from(["", "@d1", "@d2"]),
)


@given(st.lists(SEATS, max_size=12), st.sets(st.integers(1, 5)), st.integers(1, 9))
def test_the_order_in_which_nodes_and_topologies_are_told_does_not_matter(
    seats: list[str], gone: set[int], count: int
) -> None:
    """Nodes move between racks and domains, and leave; then all is told once."""
    lived = world("")
    last: dict[str, Node] = {}
    for one in map(linked, seats):
        lived.put_node(one)
        last[one.name] = one
    usage = used({"n1": {CPU: 1000, PODS: 1}})
    lived.charge(usage)
    for name in (f"n{one}" for one in gone):
        lived.drop_node(name)
        last.pop(name, None)
    anew = Forest()
    for fact in reversed(last.values()):
        anew.put_node(fact)
    anew.charge(usage)
    anew.put_flavor(FLAVOR, "T", LEVELS)
    anew.put_nearer(FLAVOR, LINK)
    for level in ("rack", "block"):
        assert ask(lived, count, preferred=level) == ask(anew, count, preferred=level)
    assert ask(lived, count, required="nvlink") == ask(anew, count, required="nvlink")
