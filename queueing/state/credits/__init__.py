"""Credits between cycles: from workload statuses to ledgers, and from balances to weights.

A ledger stays `lag_s` seconds behind the clock, so that all earlier writes have been observed by
then, and counts at the whole seconds that objects store. So a new leader, which starts from the
stored accounts and the objects, gets the same sums. Weights are bent at fixed points in time, a
256th of the horizon apart, so that the order of queues does not depend on when cycles run.

`credits` is what the engine calls. `policies` says which policy applies to which tree. `presence`
turns statuses into *holdings* (which workload holds which quota, from when to when), `grants` takes
CreditGrants; both plan in the `agenda` what happens to ledgers, and when. `books` are the ledgers
of all cohorts and `book` is one of them; `queue_books` are those of namespaces within ClusterQueues
and `queue_book` is one of them. `accounts` are the stored ledgers, and `stored` says whether they
include what a workload held. `holds` are payments that are due soon, `saves` the times at which
work was saved. `shares` bends weights and says which workloads shares may preempt. `budgets` are
CreditBudgets and `purse` is one of them; `coverage` says which of them cover a queue, and
`commitments` what running workloads may still cost. `restraints` follow what workloads that may not
borrow hold. `usages` are rows for reports and `meter` those of one tree.
"""
