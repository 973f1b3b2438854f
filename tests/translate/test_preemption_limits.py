import msgspec
import pytest

from queueing.translate.inbound import queues
from queueing.translate.wire.queues import ClusterQueue, Cohort


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("20", 20, id="a number"),
        pytest.param("0", None, id="nobody could ever be preempted"),
        pytest.param("-1", None, id="less than nobody"),
        pytest.param("many", None, id="a word"),
        pytest.param("9" * 5000, None, id="endless"),
        pytest.param("٣", None, id="digits of another script"),
    ],
)
def test_a_limit_on_preemptions_is_read_or_told_to_be_none(text: str, want: int | None) -> None:
    name = "queueing.dev/max-preemptions-in-flight"
    made = {"metadata": {"name": "a", "annotations": {name: text}}}
    queue = queues.cluster_queue(msgspec.convert(made, ClusterQueue))
    cohort = queues.cohort(msgspec.convert(made, Cohort))
    assert queue.preemptions_max == cohort.preemptions_max == want
    for found in (queue.misconfigured, cohort.misconfigured):
        assert (name in found) is (want is None)
