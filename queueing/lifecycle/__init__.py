"""The life of a Workload besides quota: checks, stops, timeouts, deactivation, requeuing, deletion.

`steps` are the possible writes, and `rules` says which one is due. Invariant: steps are idempotent,
and each is one write, so that a crash between two of them only delays the second. Called by
`controller.workloads`, and by all code that evicts.

It stands beside the engine, not in it: who gets quota asks nothing of it, and of `core` it knows
only the facts. The two meet in a Workload's status, which both of them read.
"""
