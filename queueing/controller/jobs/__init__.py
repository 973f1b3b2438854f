"""Starts, stops and finishes Jobs, each with its Workload: single ones, and gangs of several.

One Job is a *gang* of one *part*; what differs between it and several Jobs with a label is the
gang's *form*.

Invariants: `ladder` is pure and level-triggered. For a gang as it is it returns the one next step.
Each leads to a state with another next step, so that after a crash the next leader continues in the
middle. A Job is unsuspended only while its Workload is Admitted or being evicted. The Workload's
status is the only commit record: whoever looks at it and at the Jobs knows whether a start is being
completed or undone.

Reading order:

1. `parts` and `gangs` are what is known: a gang, its form and parts. `ladder` returns one of
   `actions`. The forms are `alone`, `prebuilt` (a Job that names a Workload that was there first),
   `slices` (a job that grows and shrinks), `together`, and for pods, which are deleted instead of
   suspended, `pod_alone`, `pod_group` and `prebuilt_group`.
2. `membership` collects the Jobs and Workloads of a gang. `ancestry` says which Jobs are part of
   another one, with `owners` for those that are not followed.
   `strays` finds out about pods that the watch has ceased to show.
3. `reconciler` does what the ladder says, one step per look. `workload_writer` writes Workloads,
   and `slice_writer` those of elastic jobs, whose new pods `ungating` lets go; `evictions` evicts
   those that cannot start or run on.
4. `starting` unsuspends Jobs with what is added to their pod templates; several of them after dry
   runs. `start_errors` are what a start may raise.
5. `stopping` suspends Jobs and restores their templates; `quiescence` says when a suspended Job
   makes no more pods. `pod_writer` deletes pods, and lets go of them.
6. `waiting_reasons` writes on the Jobs of a gang what it waits for. `dependencies` is what all of
   these are given.
"""
