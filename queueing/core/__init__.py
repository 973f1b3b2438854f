"""The rules of admission: pure values and functions.

Facts come in, decisions go out. Nothing here does I/O, reads a clock, or knows a wire type: the
same facts always give the same decisions. `queueing.state` keeps the memory between cycles and is
the only caller that stores anything; `queueing.translate` makes facts from API objects, and API
objects from decisions.

`facts` has what comes in; what queues and cohorts list by flavor is in `flavor_quotas`.

The path of a round: `rounds` takes the heads. `nomination` asks `flavors` for an assignment and
`preemption` (or `fair_sharing`) for victims, on the `quota` tree. `ordering` and `fair_sharing` put
the resulting entries in order, and `rounds` lets those wait that let others go first. `processing`
decides one entry after the other, on the tree with what the entries before it took. `reasons` has
the messages.

`topology` finds places for pods on racks and hosts. `placement` asks it for them after flavors were
chosen, `second_pass` for a workload that holds quota already.
"""
