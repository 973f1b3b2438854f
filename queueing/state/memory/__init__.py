"""What is kept between cycles, as data: `memory` is all of it, the rest are its parts.

`objects` keeps queues, cohorts, flavors and checks; `claims` who waits for whose quota; `feuds` who
preempted whom, which ends preemption to and fro; `story` why a workload waits; `views` what the
status of a queue says.
"""
