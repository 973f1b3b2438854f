"""Rounds, one after the other, until no head is left that another attempt could admit.

`beginning` notes what time alone has changed, then `driver` runs the rounds. In each, `selection`
takes the heads, `succession` replaces hopeless heads by the next of their queues,
`queueing.core.rounds` decides, and `settlement` applies the decisions to the memory. For each
workload that was not admitted, `parking` records which events would make another attempt
worthwhile. `wakes` makes workloads READY after such an event, and `standing` keeps the quota that
preemptors wait for from the workloads after them.

Four modules answer from known numbers, without judging a head: `hopeless` (it cannot be admitted),
`prospects` and `contest` (it will be admitted; `contest` does not even look up every head), and
`supply` (an upper bound of what it could get). `openness` remembers which LocalQueues a
ClusterQueue lets in.
"""
