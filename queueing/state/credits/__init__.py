"""Credits between cycles: from workload statuses to accounts, and from balances to weights.

An account stays `lag_s` seconds behind the clock, so that all earlier writes have been observed by
then, and counts at the whole seconds that objects store. So a new leader, which starts from what
was stored and the objects, gets the same sums. Weights are bent at fixed points in time, a 256th of
the horizon apart, so that the order of queues does not depend on when cycles run.

`credits` is what the engine calls, once a cycle; `records` is what others see. `policies` says
which policy applies to which tree. `presence` turns statuses into *holdings* (which workload holds
which quota, from when to when), and plans in the `agenda` what happens, and when; CreditGrants are
planned there, too, and it knows when work was saved.

An `account` counts the holdings under its holder, and `accounts` are all of them. There are three
kinds: a `ledger` of what siblings lend each other (a `cohort_ledger` for the children of a cohort,
a `namespace_ledger` for those of a ClusterQueue), a `purse` of what a budget has spent, and a
`meter` of what a tree used, for reports. `holds` are payments that are due soon. `budgets` say what
admissions may still cost, by purses and by what runs already. `ranks` order the LocalQueues of a
ClusterQueue by these ledgers.
"""
