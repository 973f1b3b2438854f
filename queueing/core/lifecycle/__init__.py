"""The life of a Workload besides quota: checks, stops, timeouts, deactivation, return, retention.

`phases` is the table of what may follow what, `steps` are what can be done, `rules` says which one
is due. Invariant: steps are idempotent, and each is one write, so that a crash between two of them
changes nothing but the time. Called by `controller.workloads`, and by whoever writes an eviction.
"""
