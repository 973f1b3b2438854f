"""Random small worlds with all that keeps workloads from being judged, or changes what they ask.

Admission checks, stopped and broken queues, held doors, gates and backoffs, evictions that count
as a new place in the queue, pods that are over, node labels, and gates of features switched off.
"""

from dataclasses import replace
from random import Random

from queueing.core.facts import (
    CheckPhase,
    CheckState,
    ClusterQueueFact,
    Condition,
    FlavorFact,
    LocalQueueFact,
    PodSet,
    StopPolicy,
    WorkloadFact,
)
from queueing.core.names import CheckName, Key
from queueing.core.selectors import Requirement, Selector
from queueing.core.settings import RequeuingTimestamp, Settings
from queueing.testing.builders import admission, check, check_rule, condition
from tests.core.rounds.random_cases import NOW, Case, case_of

CHECKS = ("k0", "k1")
ZONES = [("x",), ("y",), ("x", "y")]
SALT = 104_729


def rich_case_of(seed: int) -> Case:
    """Make the world of a seed, and add to every kind of object what it may have besides."""
    case = case_of(seed)
    random = Random(seed * SALT + 1)
    case.settings = _settings(random, case.settings)
    broken = random.random() < 0.15
    case.checks = [check(name, active=not broken or random.random() < 0.8) for name in CHECKS]
    case.flavors = [_flavor(random, one) for one in case.flavors]
    gone = random.choice(case.flavors).name if broken and random.random() < 0.15 else None
    case.flavors = [one for one in case.flavors if one.name != gone]
    case.queues = [_queue(random, one, broken=broken) for one in case.queues]
    case.doors = [_door(random, one) for one in case.doors]
    case.running = [_running(random, one) for one in case.running]
    case.pending = [_pending(random, one) for one in case.pending]
    return case


def _settings(random: Random, settings: Settings) -> Settings:
    return replace(
        settings,
        equivalence_hashing=random.random() < 0.8,
        flavor_fungibility=random.random() < 0.9,
        preserve_scan_progress=random.random() < 0.8,
        requeuing_timestamp=random.choice(list(RequeuingTimestamp)),
    )


def _flavor(random: Random, fact: FlavorFact) -> FlavorFact:
    zone = random.choice([None, None, "x", "y"])
    labels = {} if zone is None else {"zone": zone}
    return replace(fact, node_labels=labels)


def _queue(random: Random, fact: ClusterQueueFact, *, broken: bool) -> ClusterQueueFact:
    flavors = [str(one.flavor) for group in fact.groups for one in group.flavors]
    rules = [
        check_rule(name, *random.sample(flavors, random.randint(0, 1)))
        for name in CHECKS
        if random.random() < 0.25
    ]
    stopped = broken and random.random() < 0.2
    elsewhere = Selector((Requirement(key="team", operator="Exists"),))
    return replace(
        fact,
        checks=tuple(rules),
        stop_policy=StopPolicy.HOLD if stopped else StopPolicy.NONE,
        namespace_selector=elsewhere if random.random() < 0.02 else fact.namespace_selector,
    )


def _door(random: Random, fact: LocalQueueFact) -> LocalQueueFact:
    held = random.random() < 0.03
    return replace(fact, stop_policy=StopPolicy.HOLD if held else StopPolicy.NONE)


def _running(random: Random, fact: WorkloadFact) -> WorkloadFact:
    conditions = dict(fact.conditions)
    if "Evicted" in conditions:
        conditions |= _eviction(random)
    fact = replace(fact, conditions=conditions)
    assert fact.admission is not None
    if random.random() < 0.2:
        (one,), (given,) = fact.pod_sets, fact.admission.pod_sets
        count = random.randint(1, 3)
        asked = count + random.randint(0, 1)
        usage = {name: amount * count for name, amount in given.usage.items()}
        given = replace(given, count=count, usage=usage)
        fact = replace(
            fact,
            pod_sets=(replace(one, count=asked),),
            admission=admission(fact.admission.cluster_queue, given),
            reclaimable={one.name: random.randint(0, asked)},
        )
    return fact


def _eviction(random: Random) -> dict[str, Condition]:
    reason = random.choice(["Preempted", "PodsReadyTimeout", "AdmissionCheck"])
    changed = float(random.randrange(100))
    found = {"Evicted": condition("Evicted", reason, changed=changed)}
    if reason == "Preempted":
        why = random.choice(["InCohortReclaimWhileBorrowing", "InClusterQueue"])
        found["Preempted"] = condition("Preempted", why, changed=changed)
    return found


def _pending(random: Random, fact: WorkloadFact) -> WorkloadFact:
    def rarely(chance: float = 0.02) -> bool:
        return random.random() < chance

    conditions = _eviction(random) if rarely(0.25) else {}
    if rarely():
        conditions["Requeued"] = condition("Requeued", "PodsReadyTimeout", status=False)
    states = [(name, random.choice(list(CheckPhase)[: 4 if rarely() else 2])) for name in CHECKS]
    pod_sets = tuple(_places(random, one) for one in fact.pod_sets)
    whole = [one for one in pod_sets if one.min_count is None]
    return replace(
        fact,
        pod_sets=pod_sets,
        conditions=conditions,
        active=not rarely(),
        admission_gates=("example.com/wait",) if rarely() else (),
        requeue_at=NOW + random.choice([-1.0, 0.0, 1.0]) if rarely(0.05) else None,
        misconfigured="it asks for too much" if rarely() else "",
        preemption_gated=rarely(0.08),
        local_queue=Key("team/nowhere") if rarely(0.02) else fact.local_queue,
        checks=tuple(
            CheckState(name=CheckName(name), state=state) for name, state in states if rarely(0.5)
        ),
        reclaimable={one.name: random.randint(0, one.count) for one in whole if rarely(0.15)},
    )


def _places(random: Random, one: PodSet) -> PodSet:
    if random.random() < 0.9:
        return one
    if random.random() < 0.5:
        key = random.choice(["zone", "zone", "disk"])
        return replace(one, node_selector={key: random.choice(["x", "y"])})
    terms = [_term(random) for _ in range(random.randint(1, 2))]
    return replace(one, node_affinity=tuple(terms))


def _term(random: Random) -> tuple[Requirement, ...]:
    def some() -> Requirement:
        key = random.choice(["zone", "zone", "disk"])
        operator = random.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"])
        values = random.choice(ZONES) if operator in {"In", "NotIn"} else ()
        return Requirement(key=key, operator=operator, values=values)

    return tuple(some() for _ in range(random.randint(1, 2)))
