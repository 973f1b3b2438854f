"""Which views may have changed since the last look."""

from queueing.core.names import CohortName
from queueing.state.memory.memory import Memory
from queueing.state.memory.views import Changed


def changed(memory: Memory) -> Changed:
    """Return the names, sorted, of objects whose views may have changed since the last call."""
    touched = memory.touched
    cohorts = {
        CohortName(above.name)
        for name in touched.charged
        if memory.tree.has_queue(name)
        for above in memory.tree.queue(name).ancestors()
    }
    told = Changed(
        cluster_queues=tuple(sorted(touched.queues)),
        local_queues=tuple(sorted(touched.local_queues)),
        cohorts=tuple(sorted(cohorts)),
    )
    touched.queues.clear()
    touched.local_queues.clear()
    touched.charged.clear()
    return told
