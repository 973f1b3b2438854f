"""Gangs: several Jobs that start, stop and end as one Workload.

Invariant: a member is unsuspended only while its Workload is Admitted or being evicted. The
Workload's status is the only commit record: whoever looks at it and at the Jobs knows whether a
start is being completed or undone, so that any crash is continued by whoever leads next.

Reading order: `parts` is what is known of a gang: its pod sets, each with its Job. `ladder` is pure
and returns the next step, one of `actions`; `reconciler` does it, one step per look. `membership`
collects the Jobs and Workloads of a gang. `starting` tries the patches of all members as dry runs
before it sends any, with `concurrent_writes`. `waiting_reasons` writes on its Jobs what a gang
waits for. What single Jobs need as well is in `jobs`.
"""
