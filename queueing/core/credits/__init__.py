"""Fair-share credits: a ledger of who lent idle quota to whom, and how balances bend shares.

One credit is one second of the reference device, which has the price 1. In each flavor of each
cohort, children that leave quota idle earn as far as siblings use it, and borrowers pay. Payments
that no child earns go to named sinks, so that the balances and sinks of a cohort always sum to
zero. Rates are constant between two events, so sums are exact; all of them are integers. The rules:
docs/concepts/credits.md. Called by `state.credits`.

`facts` are the inputs and the stored records. `holding` reads from a workload's status since when
and until when it holds quota. `prices` turn amounts into credits per second, and a `post` turns
what one child uses of one flavor into what it lends and borrows. `market` is one flavor of one
cohort, `group` a cohort's ledger, and `decay` and `partners` are parts of it. `bend` turns a
balance into a factor of a weight. `allowance` applies budgets to admissions, with their `period`s.
`restraint` is the rule for workloads that may not borrow. `precedence` says which heads of a round
stand back, so that a queue with a smaller bent share may go on.
For reports `folding` makes rows of usage fewer and coarser.
"""
