"""How the leader writes, whatever it is that is written.

Invariants: nothing is sent unless the Lease outlasts the write's timeout, and every reply is taken
in like an event of the watch. `leader_writes` sends what reconcilers decided, `events` records what
users read with `kubectl describe`, `deferral` puts off what nobody waits for while the API server
is pressed.
"""
