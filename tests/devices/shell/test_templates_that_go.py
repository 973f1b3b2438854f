"""Templates of work that is over are deleted together, or one by one where that is not allowed."""

from collections import Counter
from typing import Any

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from tests.controller.harness import FLAVOR, LOCAL_QUEUE, MakeWorld, Wire, World, job, true
from tests.devices.shell.test_claims_of_users import DEVICE_CLASS, DEVICE_FLAVOR, GPU, queue
from tests.devices.shell.test_claims_refused import SLICE

TEMPLATES = "/resourceclaimtemplates"
NAMES = ("a", "b", "c")
DONE: Wire = {"conditions": [{"type": "Complete", "status": "True", "reason": "Over"}]}


class Requests:
    """Counts the requests that delete templates, and refuses those that delete many."""

    def __init__(self, *, allows: bool) -> None:
        self.allows = allows
        self.seen: Counter[str] = Counter()

    async def __call__(self, call: HttpRequest) -> Fault | None:
        if call.method != "DELETE" or TEMPLATES not in call.path:
            return None
        many = call.path.endswith(TEMPLATES)
        self.seen["many" if many else "one"] += 1
        if many and not self.allows:
            return Fault(status=403, reason="Forbidden", message="no deletecollection")
        return None


def asking(name: str) -> Wire:
    made = job(name, seconds=60_000)
    container: dict[str, Any] = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
    return made


async def run_jobs(w: World) -> None:
    """Let Jobs with a template each run, and end two of them."""
    await w.make(DEVICE_CLASS, SLICE, DEVICE_FLAVOR)
    await w.until("DeviceFlavor", "default", true("Active"))
    await w.make(FLAVOR, queue("8"), LOCAL_QUEUE, *map(asking, NAMES))
    for name in NAMES:
        await w.until("Job", name, lambda one: not one["spec"]["suspend"])
    assert len(await w.list("ResourceClaimTemplate")) == len(NAMES)
    for name in NAMES[1:]:
        await w.patch("Job", name, {"status": DONE}, "status")
    gone = [one["metadata"]["name"] for one in await w.list("ResourceClaimTemplate")]
    for name in gone:
        if not name.startswith("kq-a-"):
            await w.until_gone("ResourceClaimTemplate", name)


@pytest.mark.parametrize(
    ("allows", "by"),
    [
        pytest.param(True, {"many"}, id="together"),
        pytest.param(False, {"many", "one"}, id="one by one where nobody may delete many"),
    ],
)
async def test_templates_go_when_their_work_is_over_and_others_stay(
    world: MakeWorld, by: set[str], *, allows: bool
) -> None:
    requests = Requests(allows=allows)
    async with world(intercept=requests) as w:
        await run_jobs(w)
        (left,) = await w.list("ResourceClaimTemplate")
        assert left["metadata"]["name"].startswith("kq-a-")
        assert set(requests.seen) == by
