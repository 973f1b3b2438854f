"""How the leader writes to the API server; used by all reconcilers and by `decisions`.

Invariants: nothing is sent unless the Lease outlasts the write's timeout, and the reply to a write
of a Workload or Job is handled like a watch event. `leader_writes` sends them,
`events` records the Events that users read with `kubectl describe`, and `deferral` puts off writes
that can wait while the API server is slower than usual.
"""
