from queueing.core.facts import Fact
from queueing.core.names import Key
from queueing.state.engine import Engine
from queueing.testing.builders import admitted, cluster_queue, condition, flavor, local_queue
from queueing.testing.invariants import check_invariants

QUEUE = cluster_queue("main", {"default": {"cpu": 2_000}})
ONE = {"cpu": 1_000}


def engine(*facts: Fact) -> Engine:
    made = Engine()
    for fact in (flavor("default"), QUEUE, local_queue(), *facts):
        made.observe(fact)
    return made


def key(name: str) -> Key:
    return Key(f"team/{name}")


def test_who_fits_beside_the_others_does_not_exceed() -> None:
    made = engine(admitted("a", ONE), admitted("b", ONE))
    assert not made.exceeds(key("a"))
    check_invariants(made)


def test_who_would_find_no_room_exceeds_unless_others_step_aside() -> None:
    made = engine(*(admitted(name, ONE) for name in "abc"))
    assert made.exceeds(key("a"))
    assert not made.exceeds(key("a"), [key("b")])
    check_invariants(made)


def test_the_evicted_make_room() -> None:
    going = admitted("c", ONE, conditions=[condition("Evicted", "Preempted")])
    made = engine(admitted("a", ONE), admitted("b", ONE), going)
    assert not made.exceeds(key("a"))


def test_who_holds_nothing_or_in_no_queue_exceeds_nothing() -> None:
    made = engine(admitted("a", {"cpu": 9_000}, queue="gone"))
    assert not made.exceeds(key("a"))
    assert not made.exceeds(key("nobody"))
