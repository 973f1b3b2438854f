"""What is known of a parent's admission to which no answer came."""

import pytest

from queueing.controller.variants.doubts import Doubts
from queueing.kube.errors import KubeError, LostError
from queueing.kube.outcome import Done, Outcome, Refused, Unknown, Write
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload

LOST = LostError("no answer")
PARENT = read(Workload, {"metadata": {"name": "a", "namespace": "team", "resourceVersion": "7"}})
KEY = PARENT.metadata.key


class Scripted:
    """Writes that fail as they are told, and outcomes that are found in turn."""

    def __init__(self, failure: KubeError | None, *outcomes: Outcome) -> None:
        self.failure, self.outcomes = failure, list(outcomes)
        self.asked: list[str] = []

    async def patch_workload(self, of: Workload, body: bytes) -> None:
        if self.failure is not None:
            raise self.failure

    async def resolve(self, write: Write, unknown: Unknown) -> Outcome:
        self.asked.append(write.precondition)
        return self.outcomes.pop(0)


@pytest.mark.parametrize("end", [Done(b"{}"), Refused(LOST)], ids=["landed", "never landed"])
async def test_an_admission_without_an_answer_is_in_doubt_until_it_is_found(end: Outcome) -> None:
    open_still = Unknown(LOST, 0.0)
    writes = Scripted(LOST, open_still, end)
    doubts = Doubts(writes)
    with pytest.raises(LostError):
        await doubts.admit(PARENT, b"{}")
    assert [await doubts.outcome(KEY) for _ in range(3)] == [open_still, end, None]
    assert writes.asked == ["7", "7"]


async def test_an_admission_that_is_answered_ends_the_doubt_about_an_earlier_one() -> None:
    writes = Scripted(LOST)
    doubts = Doubts(writes)
    with pytest.raises(LostError):
        await doubts.admit(PARENT, b"{}")
    writes.failure = None
    await doubts.admit(PARENT, b"{}")
    assert await doubts.outcome(KEY) is None
