"""Which of equals goes: the one whose stop costs the least work; and never who ranks lower."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.preemption.candidates import Candidates
from queueing.core.preemption.query import Preemptor, Query
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.core.stakes import Stake
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, preemption, workload

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
LOWER, ANY = PreemptionPolicy.LOWER_PRIORITY, PreemptionPolicy.ANY
NOW = 10_000.0
SAVES = Stake(saves=True, save_s=60, restart_s=60)
CLASSICAL = Settings()
FAIR = Settings(
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
)


def running(
    name: str, stake: Stake | None = None, *, cpu: int = 4, priority: int = 0, since: float = 0.0
) -> WorkloadFact:
    return admitted(
        name,
        {"cpu": cpu},
        queue="a",
        local_queue="team/a",
        priority=priority,
        created=since,
        stake=stake,
    )


def victims_of(
    *held: WorkloadFact, settings: Settings = CLASSICAL, cpu: int = 4, now: float = NOW
) -> list[str]:
    policies = preemption(within=LOWER)
    total = sum(one.pod_sets[0].requests[CPU.resource] for one in held)
    queue = cluster_queue("a", {"default": {"cpu": total}}, preemption=policies)
    arena = Arena(queue, *held, settings=settings)
    arena.now = now
    (found,) = arena.round(workload("new", {"cpu": cpu}, local_queue="team/a", priority=9))
    return [str(one.workload).removeprefix("team/") for one in found.preemptions]


@pytest.mark.parametrize("settings", [CLASSICAL, FAIR], ids=["classical", "fair sharing"])
@pytest.mark.parametrize(
    ("held", "want"),
    [
        pytest.param(
            (running("saves", SAVES, since=100), running("loses", since=9_000)),
            "saves",
            id="two minutes of saving are less than a quarter of an hour lost",
        ),
        pytest.param(
            (running("saves", SAVES, since=100), running("young", since=9_990)),
            "young",
            id="who has just begun loses less than saving takes",
        ),
        pytest.param(
            (running("saves", SAVES, cpu=40, since=100), running("small", since=9_800)),
            "small",
            id="a large one's saving costs as much as it is large",
        ),
        pytest.param(
            (
                running("saved", Stake(saved_at=9_900), since=100),
                running("unsaved", Stake(), since=9_000),
            ),
            "saved",
            id="what was saved is not lost",
        ),
        pytest.param(
            (running("slow", Stake(saves=True, save_s=600)), running("quick", SAVES)),
            "quick",
            id="who was seen to save quickly",
        ),
        pytest.param(
            (running("old", since=1), running("new-est", since=9_000)),
            "new-est",
            id="without any policy the newest goes, as ever",
        ),
    ],
)
def test_the_cheaper_of_equals_goes(
    held: tuple[WorkloadFact, ...], want: str, settings: Settings
) -> None:
    assert victims_of(*held, settings=settings) == [want]
    assert victims_of(*reversed(held), settings=settings) == [want]


@pytest.mark.parametrize("settings", [CLASSICAL, FAIR], ids=["classical", "fair sharing"])
def test_a_lower_priority_goes_whatever_it_costs(settings: Settings) -> None:
    dear = running("dear", Stake(save_s=86_400), priority=0)
    cheap = running("cheap", SAVES, priority=1)
    assert victims_of(dear, cheap, settings=settings) == ["dear"]


def test_in_kueue_mode_the_newest_goes_and_no_runtime_is_granted() -> None:
    settings = Settings(compatibility=Compatibility.KUEUE)
    granted = Stake(minimum_runtime_s=86_400)
    held = running("cheap", SAVES, since=1), running("newest", granted, since=9_000)
    assert victims_of(*held, settings=settings) == ["newest"]


@pytest.mark.parametrize("settings", [CLASSICAL, FAIR], ids=["classical", "fair sharing"])
@pytest.mark.parametrize(
    ("now", "want"),
    [
        pytest.param(5_599.0, ["other"], id="it has not run so long"),
        pytest.param(5_600.0, ["granted"], id="it has"),
    ],
)
def test_who_has_not_run_its_minimum_runtime_is_no_victim(
    settings: Settings, now: float, want: list[str]
) -> None:
    granted = running("granted", Stake(saves=True, minimum_runtime_s=600), since=5_000)
    held = granted, running("other", since=1)
    assert victims_of(*held, settings=settings, now=now) == want


def test_who_reclaims_its_own_quota_need_not_wait_for_a_minimum_runtime() -> None:
    lent = admitted(
        "lent",
        {"cpu": 10},
        queue="b",
        local_queue="team/b",
        created=NOW,
        stake=Stake(minimum_runtime_s=86_400),
    )
    policies = preemption(reclaim=ANY)
    arena = Arena(
        cluster_queue("a", {"default": {"cpu": 5}}, cohort="all", preemption=policies),
        cluster_queue("b", {"default": {"cpu": 5}}, cohort="all"),
        lent,
    )
    arena.now = NOW + 1
    (found,) = arena.round(workload("new", {"cpu": 5}, local_queue="team/a"))
    assert [one.workload for one in found.preemptions] == ["team/lent"]


stakes = st.none() | st.builds(
    Stake,
    saves=st.booleans(),
    saved_at=st.sampled_from([None, 500.0, 9_000.0]),
    save_s=st.sampled_from([0.0, 60.0, 600.0]),
    restart_s=st.sampled_from([0.0, 60.0]),
)
holders = st.lists(
    st.tuples(stakes, st.integers(1, 4), st.integers(0, 2), st.sampled_from([1.0, 5_000.0])),
    min_size=1,
    max_size=8,
)


def ordered(held: Sequence[WorkloadFact], *, weighs_work: bool) -> list[tuple[int, str]]:
    queue = cluster_queue("a", {"default": {"cpu": 1}}, preemption=preemption(within=LOWER))
    arena = Arena(queue, *held)
    preemptor = Preemptor(
        priority=9,
        timestamp=1.0,
        node=arena.tree.queue(queue.name),
        policies=queue.preemption,
        now=NOW,
        weighs_work=weighs_work,
    )
    found = Candidates(Query(preemptor, {CPU: 1}, [CPU]), arena)
    return [(one.holder.priority, one.holder.uid) for one in found]


@given(drawn=holders, shuffle=st.randoms(use_true_random=False))
def test_costs_order_equals_alone_and_the_same_facts_give_the_same_order(
    drawn: list[tuple[Stake | None, int, int, float]], shuffle: object
) -> None:
    held = [
        running(f"w{number}", stake, cpu=cpu, priority=priority, since=since)
        for number, (stake, cpu, priority, since) in enumerate(drawn)
    ]
    with_costs, without = ordered(held, weighs_work=True), ordered(held, weighs_work=False)
    assert [one for one, _ in with_costs] == [one for one, _ in without], "ranks stay"
    assert sorted(with_costs) == sorted(without), "nobody comes or goes"
    mixed = list(held)
    shuffle.shuffle(mixed)  # type: ignore[attr-defined] # a random.Random, which st does not type
    assert ordered(mixed, weighs_work=True) == with_costs
    if all(stake is None for stake, *_ in drawn):
        assert with_costs == without
