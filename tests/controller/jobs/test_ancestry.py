"""Jobs that own Jobs: whose part one is, and where nobody looks any further."""

import pytest

from queueing.controller.jobs.ancestry import Ancestry
from queueing.controller.stores.objects import Objects
from queueing.kinds.owners import TooDeepError
from queueing.translate.jobs.view import JobView
from tests.batch_jobs import batch_job


def chain(length: int) -> Objects:
    """Return Jobs `0` to `length`, each but the first owned by the one before."""
    objects = Objects()
    for number in range(length + 1):
        owner = {"apiVersion": "batch/v1", "kind": "Job", "controller": True}
        owners = [{**owner, "name": str(number - 1), "uid": f"u{number - 1}"}] if number else []
        metadata = {"name": str(number), "namespace": "team", "uid": f"u{number}"}
        template = {"spec": {"containers": [{"name": "c"}]}}
        document = {
            "metadata": {**metadata, "ownerReferences": owners},
            "spec": {"template": template},
        }
        objects.put_job(batch_job(document))
    return objects


def lowest(objects: Objects) -> JobView:
    return list(objects.jobs.values())[-1]


@pytest.mark.parametrize(
    ("length", "managed", "want"),
    [
        pytest.param(0, {"0"}, None, id="nobody owns it"),
        pytest.param(2, set(), None, id="nobody above is managed"),
        pytest.param(3, {"1", "2"}, "1", id="the topmost that is managed"),
        pytest.param(10, {"0"}, "0", id="ten steps up"),
    ],
)
def test_a_job_is_part_of_the_topmost_managed_one(
    length: int, managed: set[str], want: str | None
) -> None:
    objects = chain(length)
    found = Ancestry(objects, lambda one: one.metadata.name in managed).ancestor_of(lowest(objects))
    assert (found.metadata.name if found is not None else None) == want


def test_beyond_ten_steps_nobody_looks() -> None:
    objects = chain(11)
    with pytest.raises(TooDeepError, match="limit of 10"):
        Ancestry(objects, lambda _: True).ancestor_of(lowest(objects))
