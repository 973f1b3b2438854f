"""Starts, stops and finishes Jobs (`batch/v1`), each with its Workload.

Invariant: `ladder` is pure and level-triggered. For a Job and its Workloads as they are it returns
the one next write. Each write leads to a state with another next write, so that after a crash the
next leader continues in the middle.

Reading order:

1. `ladder` is the core. `reconciler` does what it says, one write per look. Other cases have a
   function like it: a Job that another Job owns (`ancestry`), that names a prebuilt Workload
   (`prebuilt`), or that had a Workload of its own before it joined a gang (`solitary`). `managed`
   says which Jobs are queued at all, `priorities` which priority their Workloads get.
2. `starting` unsuspends a Job with `additions` to its pod template.
3. `stopping` suspends Jobs and restores their templates; `quiescence` says when a suspended Job
   makes no more pods.
4. `workload_writes` are the writes that concern a Workload alone; `workload_writer` sends them.

`gangs` uses 2 to 4 as well. `dependencies` is what both reconcilers are given, `start_errors` what
a start may raise.
"""
