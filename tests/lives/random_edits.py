"""Random lives in which anything that somebody may edit is edited, also under those who run.

The lives of the other modules leave much as it is: which flavors and resources a queue has, where a
LocalQueue leads, namespaces, taints, devices, limits, what a pending workload asks. Here all that
changes, victims are spared or end instead of giving way, names are used again, and reservations
turn up that nobody here decided. Half of them are in deep cohorts, and a quarter are rich ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from queueing.core.devices import DeviceAsk, DeviceOffer
from queueing.core.facts import PodSet, WorkloadFact
from queueing.core.flavor_quotas import ResourceGroup
from queueing.core.names import ResourceName
from queueing.core.selectors import Requirement, Selector
from queueing.core.settings import Compatibility, QuotaCheck, RequeuingTimestamp, Settings
from queueing.core.stakes import Stake
from queueing.testing.builders import EVERY_NAMESPACE, check_rule, groups, pod_set
from tests.lives.random_contention import some_contention
from tests.lives.random_events import NOTHING, PICKS, Event, Life, Step, Table, some_life
from tests.lives.random_riches import some_riches
from tests.lives.random_worlds import DEFAULT, GOLD, MODES, SPOT, TAINT, Choose

CPU = ResourceName("cpu")
_GOLD_ONLY = Selector((Requirement(key="tier", operator="In", values=("gold",)),))
_GROUPS: tuple[tuple[ResourceGroup, ...], ...] = (
    groups({DEFAULT: {"cpu": 3}}),
    groups({SPOT: {"cpu": 2}}),
    groups({SPOT: {"cpu": 2}, DEFAULT: {"cpu": 2}}),
    groups({DEFAULT: {"cpu": 2}, SPOT: {"cpu": 3}}),
    groups({DEFAULT: {"cpu": 2}, SPOT: {"cpu": 1}, GOLD: {"cpu": 1}}),
    groups({DEFAULT: {"cpu": 4, "memory": 4}}),
    groups([{DEFAULT: {"cpu": 3}}, {GOLD: {"gpu": 2}}]),
    (),
)
_SHAPES: tuple[tuple[PodSet, ...], ...] = (
    (pod_set({"cpu": 1}),),
    (pod_set({"cpu": 2}),),
    (pod_set({"cpu": 1}, 4, min_count=1),),
    (pod_set({"cpu": 1}, 3, min_count=2),),
    (pod_set({"cpu": 1}), pod_set({"cpu": 1}, 2, name="second")),
    (pod_set({"cpu": 1, "memory": 1}),),
    (pod_set({"cpu": 1}, 0),),
    (pod_set({"cpu": 1}, wants_topology=True),),
)
_OFFERS: tuple[Mapping[str, DeviceOffer], ...] = (
    {},
    {"half": DeviceOffer(), "one": DeviceOffer(amount=1, pods_max=256, together=True)},
    {"half": DeviceOffer(pods_max=1), "one": DeviceOffer(amount=2, pods_max=2, together=True)},
    {"half": DeviceOffer(pods_max=0, problem="no device has so much memory")},
)
OF_WORKLOADS: Table = MappingProxyType(
    {
        "again": (True, False),
        "ask": _SHAPES,
        "deleting": NOTHING,
        "end leaving": NOTHING,
        "end waiting": NOTHING,
        "pods ready": (True, True, False),
        "reclaim anywhere": (1, 2, 4),
        "reserved": range(3),
        "save": (0, 1, 2),
        "spare": ("Spared", "Withdrawn"),
        "stake": (None, Stake(minimum_runtime_s=60.0), Stake(saves=True, save_s=20.0)),
        "ungate": NOTHING,
    }
)
OF_OBJECTS: Table = MappingProxyType(
    {
        "check object": (True, False, None),
        "door": range(4),
        "groups": _GROUPS,
        "labels": ("gold", "plain"),
        "limit": (None, 0, 1, 2),
        "limit of cohort": (None, 1, 2),
        "budget": (None, 0, 500, 4_000),
        "credits": (None, (0, False), (60, True)),
        "misconfigured": ("", "it contradicts itself"),
        "more checks": ((), (check_rule(),), (check_rule(), check_rule("second", SPOT))),
        "offer": _OFFERS,
        "selector": (EVERY_NAMESPACE, _GOLD_ONLY, None),
        "take turns": (True, False),
        "taint": ((), (TAINT,)),
        "topology": ("rack", None),
    }
)
OF_THE_ENGINE: Table = MappingProxyType(
    {"lag": NOTHING, "portion": (1, 1, 2, 3), "clock": (-30.0, -1.0)}
)
EDITS: Table = MappingProxyType({**OF_WORKLOADS, **OF_OBJECTS, **OF_THE_ENGINE})
"""What else may happen, and happens seldom."""
CLAIMS = ("", "one", "one", "other")


def some_edits(choose: Choose, *, modes: Sequence[str] = MODES, size: int = 30) -> Life:
    """Choose a life of one of the other sorts, and what is edited in it."""
    some = choose((some_life, some_contention, some_contention, some_riches))
    life = some(choose, modes=modes, size=size)
    shares = choose((False, False, True))
    steps: list[Step] = []
    for step in life.steps:
        if isinstance(step, WorkloadFact):
            steps.append(_sharing(choose, step) if shares else step)
            continue
        steps.append(step)
        if choose((False, True)):
            kind = choose((*EDITS, "portion", "portion", "portion"))
            steps.append(Event(kind, choose(PICKS), choose(EDITS[kind])))
    return replace(life, settings=_odd_settings(choose, life.settings), steps=steps)


def _odd_settings(choose: Choose, settings: Settings) -> Settings:
    """Choose what operators seldom choose."""
    is_kueue = settings.compatibility is Compatibility.KUEUE
    return replace(
        settings,
        block_admission_until_pods_ready=choose((False, False, False, True)),
        quota_check=choose((*(QuotaCheck.BLOCK_UNDECLARED,) * 3, QuotaCheck.IGNORE_UNDECLARED)),
        requeuing_timestamp=choose(tuple(RequeuingTimestamp)),
        partial_admission=choose((True, True, True, False)),
        preserve_scan_progress=choose((True, True, True, False)),
        prioritize_preemptors=is_kueue and choose((False, True)),
    )


def _sharing(choose: Choose, step: WorkloadFact) -> WorkloadFact:
    """Let pod sets of a workload ask for cores by one of a few claims."""
    pod_sets = [_by_claim(choose(CLAIMS), one) for one in step.pod_sets]
    return replace(step, pod_sets=tuple(pod_sets))


def _by_claim(claim: str, one: PodSet) -> PodSet:
    if not claim or one.min_count is not None or CPU not in one.requests or one.devices:
        return one
    ask = DeviceAsk(resource=CPU, shape=claim, units=one.requests[CPU], claim=claim)
    return replace(one, devices=(ask,))
