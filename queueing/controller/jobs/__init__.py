"""Jobs: what is to be done next about one, and the doing.

Invariant: `ladder` is pure and level-triggered. It looks at a Job and its Workloads as they are and
says the one next write; every write leads to another rung, so that a crash anywhere is continued.

`reconciler` looks at one Job at a time: is it ours (`managed`), does a Job own it (`ancestry`),
does it name its Workload (`prebuilt`), had it one before a gang took it (`solitary`)? `starting`
unsuspends one. What the reconcilers of Jobs and of gangs share: `dependencies` are what they are
given, and `start_errors` what those raise; `stopping` suspends Jobs and restores their templates;
`workload_writes` are values of what is written into a Workload alone, and `workload_writer` writes
them; `quiescence` says whether a suspended Job makes no pods any more; `additions` are what a start
adds to the pods, `priorities` what a Job's class says.
"""
