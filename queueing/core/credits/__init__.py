"""Fair-share credits: a ledger of who lent idle quota to whom, and how balances bend shares.

One credit is one second of the reference device. In each flavor of each cohort the children that
leave quota idle earn as far as siblings really use it, and borrowers pay; what nobody can be paid
for goes to named sinks, so that balances and sinks of one cohort always sum to zero. Between two
events all rates are constant, so sums are exact; everything is an integer.

`facts` are what comes in and goes out, `prices` turn amounts into credits per second, `market` is
one flavor of one cohort, `group` its ledger, `classes` what priority classes make of prices, `part`
what namespaces have of a queue they share, `bend` what a balance does to a weight, `holding` how a
workload's status tells since when and until when it holds quota; `restraint` is the rule for those
who may not borrow, `allowance` what it and budgets let anybody do. For reports: `usage` adds up
Workloads, `pot` says who lends amounts of one resource, `folding` makes rows fewer and coarser,
`attribution` tells what a queue lent by LocalQueue. Called by `state.credits`.
"""
