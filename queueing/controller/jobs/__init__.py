"""Jobs: what is to be done next about one, and the doing.

Invariant: `ladder` is pure and level-triggered. It looks at a Job and its Workloads as they are and
says the one next write; every write leads to another rung, so that a crash anywhere is continued.
"""
