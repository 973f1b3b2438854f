"""Decides who is admitted, in the steps of Kueue's scheduler: nominate, order, process, requeue.

Reading order: `schedule` runs rounds until no queue has a head that another try could help; `heads`
finds the head of each queue; `core.rounds` nominates, orders and processes them; `settle` applies
what was decided, `requeue` says how those wait that got nothing; `wake` ends their waiting after an
event; `nominated` keeps what was promised; `second_passes` places those that hold quota already,
`moved` those that make room for a gang;
`reach` bounds what a workload could get; `balances` is what time alone changes.
"""
