"""Names of workloads that the asker may not read are nowhere in an answer."""

import msgspec
import pytest

from queueing.core.facts import PreemptionPolicy, Strategy
from queueing.core.names import Key
from queueing.explain import answers
from queueing.explain.model import HIDDEN, Explanation, WorkloadExplanation
from queueing.explain.redaction import redacted
from queueing.state.engine import Engine
from queueing.testing.builders import (
    cluster_queue,
    local_queue,
    namespace,
    pod_set,
    preemption,
    workload,
)
from queueing.testing.worlds import world


def engine() -> Engine:
    """Return an engine in which `team/mine` waits behind workloads of `other`."""
    made = Engine()
    queue = cluster_queue(
        "main",
        {"default": {"cpu": 4}},
        strategy=Strategy.STRICT_FIFO,
        preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY),
    )
    for fact in (*world(queue), namespace("other"), local_queue("other/main", "main")):
        made.observe(fact)
    for name, cpu, created in (
        ("other/big", 4, 1.0),
        ("other/big-2", 4, 2.0),
        ("team/mine", 1, 3.0),
    ):
        home = name.partition("/")[0]
        made.observe(
            workload(
                name,
                local_queue=f"{home}/main",
                pod_sets=(pod_set({"cpu": cpu}),),
                created=created,
            )
        )
    made.cycle(10.0)
    return made


@pytest.fixture
def answer() -> Explanation:
    found = answers.workload(engine(), Key("team/mine"))
    assert found is not None
    return found


def test_who_may_read_all_reads_all(answer: Explanation) -> None:
    text = msgspec.json.encode(answer).decode()
    assert "other/big-2" in text
    assert "other/big (" not in text


def test_a_name_is_hidden_wherever_it_stands(answer: Explanation) -> None:
    text = msgspec.json.encode(redacted(answer, "team")).decode()
    assert "other/" not in text
    assert f"{HIDDEN} comes before it" in text
    assert '"name":"mine"' in text


def test_nothing_is_hidden_from_its_own_namespace(answer: Explanation) -> None:
    text = msgspec.json.encode(redacted(answer, "other")).decode()
    assert "other/big-2" in text


def test_a_resource_or_controller_is_no_workload(answer: Explanation) -> None:
    assert isinstance(answer, WorkloadExplanation)
    text = "2 nvidia.com/gpu more; its controller is example.com/dws; held by other/a and team/b"
    told = redacted(msgspec.structs.replace(answer, summary=text), "team")
    assert isinstance(told, WorkloadExplanation)
    assert told.summary == text.replace("other/a", HIDDEN)
