"""What others call: one question, one answer."""

from queueing.core.names import CohortName, FlavorName, Key, QueueName
from queueing.explain.domain_model import ResourceFlavorExplanation
from queueing.explain.lines import holding_in, waiting_in
from queueing.explain.model import CohortExplanation, Line, QueueExplanation, WorkloadExplanation
from queueing.explain.probe import judge
from queueing.explain.proposals import Proposal
from queueing.explain.queues import explain_cluster_queue, explain_local_queue
from queueing.explain.racks import explain_flavor, explain_flavors
from queueing.explain.remedies import Enough, find
from queueing.explain.trees import explain_cohort
from queueing.explain.workloads import explain_workload
from queueing.state.engine import Engine


def never() -> bool:
    """Say that there is time for everything."""
    return False


def workload(
    engine: Engine, key: Key, enough: Enough = never, now: float | None = None
) -> WorkloadExplanation | None:
    """Explain a workload, by key; None if the engine knows none of it.

    `enough` ends the search for remedies, and for others whose end would make room, which is what
    may take long. Without `now` it is the time of the last cycle; while nobody waits, none runs.
    """
    memory = engine.memory
    return explain_workload(memory, key, enough, memory.clock if now is None else now)


def cluster_queue(engine: Engine, name: QueueName) -> QueueExplanation | None:
    """Explain a ClusterQueue; None if the engine knows none of this name."""
    return explain_cluster_queue(engine.memory, name)


def local_queue(engine: Engine, key: Key) -> QueueExplanation | None:
    """Explain a LocalQueue; None if the engine knows none of this name."""
    return explain_local_queue(engine.memory, key)


def cohort(engine: Engine, name: CohortName | None) -> CohortExplanation | None:
    """Explain a cohort and what is below it, or all trees; None if there is no such cohort."""
    return explain_cohort(engine.memory, name)


def flavors(engine: Engine) -> ResourceFlavorExplanation:
    """Name the flavors that have a topology."""
    return explain_flavors(engine.memory)


def flavor(
    engine: Engine,
    name: FlavorName,
    domain: tuple[str, ...],
    window: tuple[int, int],
    topology: str = "",
) -> ResourceFlavorExplanation | None:
    """Tell of the domains just below one of a flavor's topology; None where there is none.

    `domain` begins with the widest; `window` is the first of those below it, and how many. Without
    the name of a topology it is the flavor's own.
    """
    return explain_flavor(engine.memory, name, domain, window, topology)


def line(
    engine: Engine, queue: QueueName | Key, window: tuple[int, int], *, holding: bool
) -> Line | None:
    """Return a part of who waits in a queue, or of who is `holding` its quota.

    A name with a slash is that of a LocalQueue. `window` is the first row and how many there are.
    None if there is no such queue.
    """
    memory, only = engine.memory, None
    name = QueueName(queue)
    if "/" in queue:
        only = Key(queue)
        door = memory.objects.local_queues.get(only)
        if door is None:
            return None
        name = door.cluster_queue
    return (holding_in if holding else waiting_in)(memory, name, only, window)


def proposals(engine: Engine, key: Key) -> tuple[Proposal, ...]:
    """Return the remedies of a waiting workload with the facts that they would make."""
    memory = engine.memory
    fact = memory.workloads.get(key)
    item = memory.items.get(key)
    if fact is None or key in memory.ledger.charges or key in memory.ledger.promised:
        return ()
    ruling = None if item is None else judge(memory, fact, item.peers.queue)
    return tuple(proposal for proposal, _ in find(memory, fact, ruling, never)[0])
