"""What is written into queues, cohorts, flavors, checks and topologies.

`statuses` writes the status of ClusterQueues, LocalQueues and Cohorts, at a bounded rate.
`finalizers` keeps objects from being deleted while they are used. `cohorts` finds the cohorts above
a queue, for metrics. `session` runs the first two as loops.
"""
