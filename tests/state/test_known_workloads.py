"""What is known of workloads: found by uid, by LocalQueue, by parent, and forgotten in each."""

from queueing.state.memory.memory import Workloads
from queueing.testing.builders import workload


def test_a_workload_that_is_forgotten_is_found_by_nothing() -> None:
    known, job = Workloads(), workload("job")
    known.put(job)
    assert known.uids == {job.uid: job.key}
    known.drop(job.key)
    assert (known, known.uids, known.behind, known.variants) == ({}, {}, {}, {})
