"""What happens to a Workload besides decisions about quota and the start and stop of its Jobs.

Reading order: `reconciler` takes the step that the lifecycle (`lifecycle`) says is due, such
as an eviction for a stop policy, a timeout or the end of its retention. `departing_pods` tells it
whether a deleted Job still has pods. `waiting_reasons` writes why a Workload waits.
`late_reservations` finds reservations that an earlier leader wrote too late; `jobs` asks it before
a start.
"""
