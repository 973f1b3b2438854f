"""Workloads that are moved to open a rack: what is kept for them, and who is not moved."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from queueing.core.decisions import Outcome, Preempt, PreemptionReason, Verdict
from queueing.core.facts import (
    CheckFact,
    CheckPhase,
    CheckState,
    ClusterQueueFact,
    Condition,
    Fact,
    Gone,
    Kind,
    NodeUsageFact,
    PreemptionPolicy,
    StopPolicy,
    Strategy,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import CheckName, CohortName, FlavorName, Key, PodSetName, QueueName
from queueing.core.settings import Compatibility, Settings
from queueing.core.stakes import Stake
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.requests import (
    Layer,
    Placeable,
    Profile,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.tree import Node
from queueing.testing import builders
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from tests.state.hosts import CPU, PODS, on

GANG, MOVED, LATE = Key("team/gang"), Key("team/small"), Key("team/late")
MOVABLE = Stake(saves=True, movable=True)


def host(name: str, rack: str, cpu: int) -> Node:
    room = {CPU: cpu, PODS: 10}
    return Node(name=name, labels={"rack": rack, HOSTNAME: name}, capacity=room)


def pods(fact: WorkloadFact, count: int, request: TopologyRequest) -> WorkloadFact:
    """Return a workload of so many pods of one core, which ask for a topology."""
    one = replace(
        fact.pod_sets[0],
        count=count,
        wants_topology=True,
        topology=request,
        placeable=Placeable(requests=in_order({CPU: 1})),
    )
    return replace(fact, pod_sets=(one,))


def pending(name: str, count: int, *, priority: int = 0, rack: bool = False) -> WorkloadFact:
    request = TopologyRequest(required="rack") if rack else TopologyRequest(unconstrained=True)
    made = builders.workload(name, {"cpu": 1}, local_queue="team/main", priority=priority)
    return pods(replace(made, created=100.0), count, request)


def running(name: str, stake: Stake | None, *, priority: int = 0, **where: int) -> WorkloadFact:
    count = sum(where.values())
    made = builders.admitted(
        name, {"cpu": 1}, queue="main", local_queue="team/main", priority=priority, stake=stake
    )
    assert made.admission is not None
    held = replace(
        made.admission.pod_sets[0], count=count, usage={CPU: count}, placement=on(**where)
    )
    made = replace(made, admission=replace(made.admission, pod_sets=(held,)))
    return pods(made, count, TopologyRequest(unconstrained=True))


def cluster(*more: Fact, settings: Settings | None = None, quota: int = 8) -> ObedientCluster:
    """Return two racks of 4 and 3 cores; `small` has one of the first, nobody any other."""
    return ObedientCluster(
        [
            builders.namespace(),
            TopologyFact(name="dc", levels=("rack", HOSTNAME)),
            builders.flavor(topology="dc"),
            builders.cluster_queue("main", {"default": {"cpu": quota}}),
            builders.local_queue("team/main", "main"),
            host("a", "r1", 4),
            host("b", "r2", 3),
            *more,
        ],
        settings,
    )


def contended(stake: Stake | None = MOVABLE, *, priority: int = 0) -> ObedientCluster:
    """Return the same, with a gang that asks for the whole first rack."""
    made = cluster(running("small", stake, priority=priority, a=1))
    made.observe(pending("gang", 4, rack=True))
    return made


def moves(world: ObedientCluster) -> list[tuple[Key, Key]]:
    return [
        (one.workload, one.preemptor)
        for one in world.preemptions
        if one.reason is PreemptionReason.MOVED
    ]


def hosts_of(world: ObedientCluster, key: Key) -> dict[str, int]:
    held = world.workloads[key].admission
    assert held is not None
    return {
        domain.values[-1]: domain.count
        for one in held.pod_sets
        if one.placement is not None
        for domain in one.placement.domains
    }


def test_who_is_moved_gets_a_place_elsewhere_and_the_gang_its_rack() -> None:
    world = contended()
    world.rest()
    check_invariants(world.engine)
    assert moves(world) == [(MOVED, GANG)]
    assert (hosts_of(world, GANG), hosts_of(world, MOVED)) == ({"a": 4}, {"b": 1})


def test_a_rack_is_opened_for_the_second_of_two_sets_that_need_one_each() -> None:
    """The racks have 4, 2 and 1 cores left: the first set fits into the first one as it is."""
    world = cluster(host("c", "r3", 1), running("small", MOVABLE, b=1), quota=20)
    gang = pending("gang", 4, rack=True)
    (held,) = gang.pod_sets
    sets = [replace(held, name=PodSetName(f"of {count}"), count=count) for count in (4, 3)]
    world.observe(replace(gang, pod_sets=tuple(sets)))
    world.rest()
    check_invariants(world.engine)
    assert moves(world) == [(MOVED, GANG)]
    assert hosts_of(world, GANG) == {"a": 4, "b": 3}


@pytest.mark.parametrize("told", [True, False], ids=["as told", "before it is told"])
def test_nobody_takes_what_is_kept_for_one_that_is_leaving(told: bool) -> None:
    world = contended()
    if told:
        world.cycle()
    else:
        world.engine.cycle(world.now)
    world.observe(pending("late", 3))
    world.cycle()
    check_invariants(world.engine)
    assert LATE not in world.running()


def test_who_was_moved_is_judged_before_those_who_came_meanwhile() -> None:
    world = contended()
    world.cycle()
    world.observe(pending("late", 3, priority=9))
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, MOVED]


def racks() -> ObedientCluster:
    """Return racks of 9, 4 and 5 cores; a gang moves `x`, `y` and `z` out of the first.

    The 4 cores that `y` and `z` need each must be in one rack.
    """
    world = ObedientCluster(
        [
            builders.namespace(),
            TopologyFact(name="dc", levels=("rack", HOSTNAME)),
            builders.flavor(topology="dc"),
            builders.cluster_queue("main", {"default": {"cpu": 100}}),
            builders.local_queue("team/main", "main"),
            *(host(f"n{at}", f"r{at}", cpu) for at, cpu in enumerate((9, 4, 5))),
        ]
    )
    for created, (name, count) in enumerate((("x", 1), ("y", 4), ("z", 4))):
        made = pods(running(name, MOVABLE, n0=count), count, TopologyRequest(required="rack"))
        world.observe(replace(made, created=float(created)))
    world.observe(pending("gang", 9, rack=True))
    world.cycle()
    return world


def test_those_who_leave_together_find_the_places_again_that_were_found_for_them() -> None:
    world = ObedientCluster(
        [
            builders.namespace(),
            TopologyFact(name="dc", levels=("rack", HOSTNAME)),
            builders.flavor(topology="dc"),
            builders.cluster_queue("main", {"default": {"cpu": 100}}),
            builders.local_queue("team/main", "main"),
            *(host(f"n{at}", f"r{at}", cpu) for at, cpu in enumerate((9, 4, 5))),
        ]
    )
    for created, (name, count) in enumerate((("x", 1), ("y", 4), ("z", 4))):
        made = pods(running(name, MOVABLE, n0=count), count, TopologyRequest(required="rack"))
        world.observe(replace(made, created=float(created)))
    world.observe(pending("gang", 9, rack=True))
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, *(Key(f"team/{name}") for name in "xyz")]


def of_queue(fact: WorkloadFact, name: str) -> WorkloadFact:
    """Return a workload in another ClusterQueue, by the LocalQueue of that name."""
    held = fact.admission and replace(fact.admission, cluster_queue=QueueName(name))
    return replace(fact, local_queue=Key(f"team/{name}"), admission=held)


def departments(**queues: ClusterQueueFact) -> ObedientCluster:
    """Return the racks of `cluster`, and a cohort of ClusterQueues, each with a LocalQueue."""
    world = cluster()
    for name, one in queues.items():
        world.observe(replace(one, name=QueueName(name), cohort=CohortName("all")))
        world.observe(builders.local_queue(f"team/{name}", name))
    return world


def of_quota(strategy: Strategy = Strategy.BEST_EFFORT_FIFO, **cores: int) -> ClusterQueueFact:
    """Return a ClusterQueue that may not borrow, with cores by flavor."""
    quotas = {flavor: {"cpu": builders.quota(n, borrowing=0)} for flavor, n in cores.items()}
    return builders.cluster_queue("any", quotas, strategy=strategy)


def test_who_may_get_more_than_was_promised_takes_nothing_of_one_that_returns() -> None:
    urgent = builders.cluster_queue(
        "any",
        {"default": {"cpu": 0}, "spot": {"cpu": 1}},
        preemption=builders.preemption(within=PreemptionPolicy.LOWER_PRIORITY),
    )
    world = departments(small=of_quota(default=1), gang=of_quota(default=4), urgent=urgent)
    world.observe(builders.flavor("spot", topology="dc"))
    world.observe(of_queue(running("small", MOVABLE, a=1), "small"))
    victim = of_queue(running("victim", None, b=1), "urgent")
    assert victim.admission is not None
    (held,) = victim.admission.pod_sets
    on_spot = replace(held, flavors={CPU: FlavorName("spot")})
    world.observe(replace(victim, admission=replace(victim.admission, pod_sets=(on_spot,))))
    world.observe(of_queue(pending("gang", 4, rack=True), "gang"))
    world.cycle()
    world.observe(of_queue(pending("late", 1, priority=9), "urgent"))
    world.cycle()
    assert world.draining() == [MOVED, Key("team/victim")]
    world.drain(MOVED)
    world.cycle()
    check_invariants(world.engine)
    assert world.running() == [GANG, MOVED]


@pytest.mark.parametrize(
    ("strategy", "moved"), [(Strategy.STRICT_FIFO, False), (Strategy.BEST_EFFORT_FIFO, True)]
)
def test_nobody_is_moved_to_wait_behind_the_head_of_a_strict_queue(
    strategy: Strategy, moved: bool
) -> None:
    world = departments(small=of_quota(strategy, default=2), gang=of_quota(default=4))
    world.observe(of_queue(running("small", MOVABLE, a=1), "small"))
    world.observe(of_queue(pending("late", 2, priority=9), "small"))
    world.rest()
    world.observe(of_queue(pending("gang", 4, rack=True), "gang"))
    world.rest()
    check_invariants(world.engine)
    assert world.running() == ([GANG, MOVED] if moved else [MOVED])


def test_the_head_of_a_strict_queue_moves_who_comes_behind_it_in_the_same_queue() -> None:
    world = departments(main=of_quota(Strategy.STRICT_FIFO, default=5))
    world.observe(running("small", MOVABLE, a=1))
    world.observe(pending("gang", 4, priority=1, rack=True))
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, MOVED]


@pytest.mark.parametrize("quota", [5, 8], ids=["quota for both", "more quota"])
def test_a_move_is_needed_as_long_as_the_gang_waits_for_the_place(quota: int) -> None:
    world = cluster(running("small", MOVABLE, a=1), quota=quota)
    world.observe(pending("gang", 4, rack=True))
    world.cycle()
    assert world.engine.is_claimed(MOVED)


def test_a_move_is_not_needed_for_what_is_promised_to_others_than_the_gang() -> None:
    policy = builders.preemption(within=PreemptionPolicy.LOWER_PRIORITY)
    others = replace(of_quota(default=1), preemption=policy)
    world = departments(small=of_quota(default=1), gang=of_quota(default=4), others=others)
    world.observe(of_queue(running("small", MOVABLE, a=1), "small"))
    world.observe(of_queue(running("victim", None, b=1), "others"))
    world.observe(of_queue(pending("gang", 4, rack=True), "gang"))
    world.cycle()
    world.observe(of_queue(pending("late", 1, priority=9), "others"))
    world.cycle()
    world.observe(Gone(kind=Kind.WORKLOAD, name="team/gang"))
    world.cycle()
    claimed = [key for key in world.draining() if world.engine.is_claimed(key)]
    assert (world.draining(), claimed) == ([MOVED, Key("team/victim")], [Key("team/victim")])


def reactivate(world: ObedientCluster) -> None:
    small = world.workloads[MOVED]
    world.observe(replace(small, active=False))
    world.rest()
    world.observe(small)


@pytest.mark.parametrize("again", [reactivate, ObedientCluster.restart])
def test_who_was_moved_and_judged_has_no_other_turn_before_all(
    again: Callable[[ObedientCluster], None],
) -> None:
    world = contended()
    world.cycle()
    world.drain(MOVED)
    world.observe(Gone(kind=Kind.NODE, name="b"))
    world.rest()
    again(world)
    world.observe(pending("late", 3, priority=9))
    world.observe(host("b", "r2", 3))
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, LATE]


def turn_ready(world: ObedientCluster, key: Key) -> None:
    fact = world.workloads[key]
    ready = Condition(type="PodsReady", status=True, changed=world.now)
    world.observe(replace(fact, conditions={**fact.conditions, "PodsReady": ready}))


def test_who_was_moved_keeps_its_turn_until_the_pods_of_the_gang_are_ready() -> None:
    world = cluster(settings=Settings(block_admission_until_pods_ready=True))
    world.observe(running("small", MOVABLE, a=1))
    turn_ready(world, MOVED)
    world.observe(pending("gang", 4, rack=True))
    world.rest()
    world.observe(pending("late", 3, priority=9))
    world.rest()
    assert world.running() == [GANG]
    turn_ready(world, GANG)
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, MOVED]


def test_a_new_leader_keeps_the_quota_of_who_is_moved() -> None:
    world = cluster(running("small", MOVABLE, a=1), quota=5)
    world.observe(pending("gang", 4, rack=True))
    world.cycle()
    world.observe(pending("late", 1, priority=9))
    world.restart()
    world.rest()
    check_invariants(world.engine)
    assert world.running() == [GANG, MOVED]


def test_a_new_leader_keeps_a_place_for_who_is_moved_beside_the_gangs() -> None:
    world = contended()
    world.cycle()
    world.restart()
    world.cycle()
    world.observe(pending("late", 3, priority=9))
    world.cycle()
    check_invariants(world.engine)
    assert LATE not in world.running()
    world.rest()
    assert world.running() == [GANG, MOVED]


@pytest.mark.parametrize("further", [True, False], ids=["there is another", "there is none"])
def test_a_place_that_is_kept_on_a_node_that_goes_is_kept_on_another(further: bool) -> None:
    world = contended()
    world.cycle()
    if further:
        world.observe(host("c", "r3", 1))
    world.observe(Gone(kind=Kind.NODE, name="b"))
    world.cycle()
    check_invariants(world.engine)
    world.observe(pending("late", 1, priority=9))
    world.cycle()
    check_invariants(world.engine)
    assert world.draining() == [MOVED]
    assert world.running() == []
    world.rest()
    assert world.running() == [GANG, MOVED] if further else [GANG]


def test_a_place_that_is_kept_no_more_is_given_to_who_waits_for_it() -> None:
    """Two pods are to go to b and c; as c is taken, what was kept on b is free."""
    taken = NodeUsageFact(name="b", usage={CPU: 2})
    world = cluster(host("c", "r3", 1), taken, running("small", MOVABLE, a=2))
    world.observe(pending("gang", 4, rack=True))
    world.cycle()
    assert moves(world) == [(MOVED, GANG)]
    world.observe(pending("late", 1))
    world.cycle()
    assert LATE not in world.running()
    world.observe(replace(taken, name="c"))
    world.cycle()
    check_invariants(world.engine)
    assert hosts_of(world, LATE) == {"b": 1}


@pytest.mark.parametrize(
    ("stake", "priority"),
    [
        pytest.param(None, 0, id="no policy"),
        pytest.param(Stake(saves=True), 0, id="the policy does not say so"),
        pytest.param(Stake(movable=True), 0, id="it does not save"),
        pytest.param(MOVABLE, 1, id="it has a higher priority"),
        pytest.param(replace(MOVABLE, minimum_runtime_s=9e9), 0, id="its minimum runtime"),
    ],
)
def test_who_is_not_moved(stake: Stake | None, priority: int) -> None:
    world = contended(stake, priority=priority)
    world.rest()
    assert (world.preemptions, world.running()) == ([], [MOVED])


@pytest.mark.parametrize(
    "around",
    [
        pytest.param(lambda: cluster(running("other", None, b=3)), id="no place elsewhere"),
        pytest.param(lambda: cluster(quota=4), id="no quota for both"),
        pytest.param(
            lambda: cluster(settings=Settings(compatibility=Compatibility.KUEUE)), id="as Kueue"
        ),
    ],
)
def test_where_nobody_is_moved(around: Callable[[], ObedientCluster]) -> None:
    world = around()
    world.observe(running("small", MOVABLE, a=1))
    world.observe(pending("gang", 4, rack=True))
    world.rest()
    assert world.preemptions == []


def test_who_could_not_come_back_is_not_moved() -> None:
    world = cluster(running("small", MOVABLE, a=1))
    world.observe(builders.local_queue("team/other", "main"))
    world.observe(replace(pending("gang", 4, rack=True), local_queue=Key("team/other")))
    world.observe(builders.local_queue("team/main", "main", stop_policy=StopPolicy.HOLD))
    world.rest()
    assert world.preemptions == []
    world.observe(builders.local_queue("team/main", "main"))
    world.engine.sweep(9)
    world.rest()
    assert moves(world) == [(MOVED, GANG)]


def test_who_only_prefers_a_rack_moves_nobody() -> None:
    world = cluster(running("small", MOVABLE, a=1), host("c", "r2", 1))
    preferring = pods(pending("gang", 4), 4, TopologyRequest(preferred="rack"))
    world.observe(preferring)
    world.rest()
    assert (world.preemptions, world.running()) == ([], [GANG, MOVED])


def test_what_is_kept_is_given_back_when_the_move_is_refused() -> None:
    world = contended()
    for one in world.engine.cycle(world.now).decisions:
        if isinstance(one, Preempt):
            world.engine.settle(Outcome(decision=one, verdict=Verdict.REFUSED))
    check_invariants(world.engine)
    assert not world.engine._memory.ledger.moving


def test_who_was_moved_may_be_moved_again_for_another_gang() -> None:
    world = contended()
    world.rest()
    world.observe(host("c", "r3", 1))
    world.observe(pending("second", 3, rack=True))
    world.rest()
    check_invariants(world.engine)
    assert moves(world) == [(MOVED, GANG), (MOVED, Key("team/second"))]


def linked(*more: Fact) -> ObedientCluster:
    """Return the two racks, of a flavor that has links between hosts as a further topology."""
    settings = Settings(placement=Profile(heeds_annotations=True))
    return cluster(
        TopologyFact(name="link", levels=("rack", "nv", HOSTNAME)),
        replace(builders.flavor(topology="dc"), nearer=("link",)),
        *(
            replace(one, labels={**one.labels, "nv": one.name})
            for one in (host("a", "r1", 4), host("b", "r2", 3))
        ),
        running("small", MOVABLE, a=1),
        *more,
        settings=settings,
    )


@pytest.mark.parametrize(
    "request_",
    [
        TopologyRequest(required="nv"),
        TopologyRequest(required="rack", slices=(Layer("nv", 2),)),
    ],
    ids=["level", "slices"],
)
def test_who_is_moved_opens_a_domain_of_a_further_topology(request_: TopologyRequest) -> None:
    world = linked(pods(pending("gang", 4), 4, request_))
    world.rest()
    assert moves(world) == [(MOVED, GANG)]
    assert GANG in world.running()


def test_a_workload_with_checks_is_not_moved() -> None:
    check = CheckFact(name=CheckName("prov"), controller="example.com/nodes", active=True)
    ready = CheckState(name=check.name, state=CheckPhase.READY)
    made = cluster(check, replace(running("small", MOVABLE, a=1), checks=(ready,)))
    made.observe(pending("gang", 4, rack=True))
    made.rest()
    assert moves(made) == []


def spare(world: ObedientCluster, key: Key) -> None:
    """Let a victim run on, because it could not save."""
    fact = world.workloads[key]
    kept = {
        name: replace(one, status=False, reason="Spared")
        for name, one in fact.conditions.items()
        if name in ("Evicted", "Preempted")
    }
    world.observe(replace(fact, conditions={**fact.conditions, **kept}))


@pytest.mark.parametrize("restarts", [False, True], ids=["same leader", "new leader"])
def test_who_could_not_save_is_not_asked_again_though_others_end(restarts: bool) -> None:
    world = contended()
    world.cycle()
    spare(world, MOVED)
    if restarts:
        world.restart()
    world.observe(pending("other", 1))
    world.rest()
    world.finish(Key("team/other"))
    world.rest()
    check_invariants(world.engine)
    assert (moves(world), world.running()) == ([(MOVED, GANG)], [MOVED])
