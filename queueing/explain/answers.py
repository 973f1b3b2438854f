"""What others call: one question, one answer."""

from queueing.core.names import Key, QueueName
from queueing.explain.model import QueueExplanation, WorkloadExplanation
from queueing.explain.probe import judge
from queueing.explain.proposals import Proposal
from queueing.explain.queues import explain_cluster_queue, explain_local_queue
from queueing.explain.remedies import Enough, find
from queueing.explain.workloads import explain_workload
from queueing.state.engine import Engine


def never() -> bool:
    """Say that there is time for everything."""
    return False


def workload(engine: Engine, key: Key, enough: Enough = never) -> WorkloadExplanation | None:
    """Explain a workload, by key; None if the engine knows none of it.

    `enough` ends the search for remedies, which is what may take long.
    """
    return explain_workload(engine.memory, key, enough)


def cluster_queue(engine: Engine, name: QueueName) -> QueueExplanation | None:
    """Explain a ClusterQueue; None if the engine knows none of this name."""
    return explain_cluster_queue(engine.memory, name)


def local_queue(engine: Engine, key: Key) -> QueueExplanation | None:
    """Explain a LocalQueue; None if the engine knows none of this name."""
    return explain_local_queue(engine.memory, key)


def proposals(engine: Engine, key: Key) -> tuple[Proposal, ...]:
    """Return the remedies of a waiting workload with the facts that they would make."""
    memory = engine.memory
    fact = memory.workloads.get(key)
    item = memory.items.get(key)
    if fact is None or key in memory.ledger.charges or key in memory.ledger.promised:
        return ()
    ruling = None if item is None else judge(memory, fact, item.peers.queue)
    return tuple(proposal for proposal, _ in find(memory, fact, ruling, never)[0])
