"""Objects of every kind on a real API server: it takes the patches of a start and of a stop, and
afterwards stores the bytes that it stored before.
"""

from collections.abc import Iterator

import pytest

from e2e import described
from e2e.cluster import Cluster
from e2e.described import created, patched, prepare_to_restore, seen, stored, written
from e2e.world import World
from queueing.kinds.starting import mark, start, undo
from tests.kinds.rows import ROWS, Row, additions, at, originals, sample

STOPPED_BY_US = [row for row in ROWS if row.stopped_by == "suspension"]
MARKED = [row for row in ROWS if row.stopped_by == "pods"]


@pytest.fixture(scope="module")
def served(cluster: Cluster) -> Iterator[Cluster]:
    """Lend the cluster with a definition of each kind that is not Kubernetes' own."""
    with described.served(cluster.api()):
        yield cluster


@pytest.mark.parametrize("row", STOPPED_BY_US, ids=[one.framework for one in STOPPED_BY_US])
def test_a_stopped_object_is_stored_as_it_was_before_its_start(
    served: Cluster, space: World, row: Row
) -> None:
    before = created(space, row)
    kept = originals(seen(row, before))
    for patch in start(seen(row, before), additions(row)):
        patched(space, row, patch)
    running = stored(space, row)
    assert not seen(row, running).suspended
    for place, one in zip(row.injected, additions(row), strict=True):
        assert one.labels.items() <= at(running, place).items(), place
    prepare_to_restore(space, row)
    patched(space, row, undo(seen(row, stored(space, row)), kept))
    assert written(stored(space, row)) == written(before)


@pytest.mark.parametrize("row", MARKED, ids=[one.framework for one in MARKED])
def test_templates_of_pods_that_are_queued_are_marked(
    served: Cluster, space: World, row: Row
) -> None:
    thing = sample(row, metadata={**sample(row)["metadata"], "namespace": space.namespace})
    thing["spec"]["replicas"] = 0
    made = space.api.create(thing)
    patched(space, row, mark(seen(row, made)))
    assert mark(seen(row, stored(space, row))) is None
