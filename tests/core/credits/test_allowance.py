"""What an admission takes from budgets and rules, and what is given back of it."""

from queueing.core.credits.allowance import Allowance, Limit
from queueing.core.credits.prices import Prices
from queueing.core.credits.restraint import Restraint
from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.tree import QuotaTree
from queueing.core.sharing import Use
from queueing.testing.builders import cluster_queue, quota, workload

QUEUE = QueueName("a")
USE = Use({FlavorResource(FlavorName("default"), ResourceName("cpu")): 2_000})
PRICES = Prices(table={(None, ResourceName("cpu")): 1_000}, add_up=False)
GRANT = 1_000_000


def job() -> WorkloadFact:
    return workload("job", {"cpu": 2_000}, max_execution_s=100)


def allowance() -> tuple[Allowance, Limit, Limit]:
    """Return one budget that blocks, one that does not, and a rule against borrowing."""
    tree = QuotaTree()
    tree.put_queue(cluster_queue("a", {"default": {"cpu": quota(2_000)}}))
    hard = Limit("hard", GRANT, GRANT, ends_at=3600)
    soft = Limit("soft", GRANT, GRANT, ends_at=3600, blocks=False)
    restraint = Restraint(tree.queue(QUEUE), 0)
    made = Allowance(
        lambda _queue, _door: (hard, soft), lambda _queue: PRICES, restraints={QUEUE: restraint}
    )
    return made, hard, soft


def test_what_a_run_may_cost_is_taken_from_each_budget_that_covers_it() -> None:
    made, hard, soft = allowance()
    made.take(job(), QUEUE, USE, demoted=False)
    assert hard.left == soft.left < GRANT


def test_who_runs_beyond_a_budget_takes_only_from_those_that_block() -> None:
    made, hard, soft = allowance()
    made.take(job(), QUEUE, USE, demoted=True)
    assert hard.left < GRANT
    assert soft.left == GRANT
