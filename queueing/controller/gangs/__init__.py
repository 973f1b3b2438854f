"""Gangs: several Jobs that start, stop and end as one Workload.

Invariant: a member is unsuspended only while its Workload is Admitted or being evicted. The
Workload's status is the only commit record: whoever looks at it and at the Jobs knows whether a
start is being completed or undone, so that any crash is continued by whoever leads next.

`reconciler` looks at one gang at a time. `membership` collects its `parts` (pod sets, each with its
Job), `ladder` says what is to be done next, as values of `actions`. `starting` asks the server
about every patch before all are sent, by `concurrent_writes`; `waiting_reasons` writes on its Jobs
what a gang waits for.
"""
