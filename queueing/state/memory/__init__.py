"""What the engine keeps between cycles, as data: `memory` is all of it, the others are its parts.

`objects` keeps ClusterQueues, cohorts, flavors and checks; `places` which workloads that hold quota
are placed by topology; `pairs` which workload preempted which, so that they do not do so in turn
for ever.
"""
