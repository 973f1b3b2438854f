"""Fair-share credits: a ledger of who lent idle quota to whom, and how balances bend shares.

One credit is one second of the reference device, which has the price 1. In each flavor of each
cohort, children that leave quota idle earn as far as siblings use it, and borrowers pay. Payments
that no child earns go to named sinks, so that the balances and sinks of a cohort always sum to
zero. Rates are constant between two events, so sums are exact; all of them are integers. The rules:
docs/concepts/credits.md. Called by `state.credits`.

`facts` are the inputs and the stored records. `prices` turn amounts into credits per second.
`market` is one flavor of one cohort, `group` a cohort's ledger, and `decay` and `partners` are
parts of it. `classes` applies the factors of priority classes. `part` divides a ClusterQueue's
quota between namespaces. `bend` turns a balance into a factor of a weight. `holding` reads from a
workload's status since when and until when it holds quota. `restraint` is the rule for workloads
that may not borrow, and `allowance` applies it and budgets to admissions, with the `period`s of
budgets. For reports: `usage` adds up holdings, `pot` is lending of one resource in amounts,
`folding` makes rows fewer and coarser, `attribution` divides what a queue lent by LocalQueue.
"""
