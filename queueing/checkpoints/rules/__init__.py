"""Saving work before pods are stopped: terms, the life of a request, and the answers of pods.

Pure: `step` makes the next record from an event, and `due` returns the event that time alone
brings. A record is all that a new leader needs to go on, so it is stored after each step, and what
must be done in a phase (`DUTIES`) may be repeated. Called by `checkpoints.shell`.

Reading order: `terms`, `phases` and `record`, then `step`; `answers` joins those of all pods,
`times` says how long stages took. `interruptions` is about nodes that go away, `idleness` about
workloads that do nothing, `learning` about what stops have cost.

Invariants. No pod is told to end before it was asked to save, unless the terms say so. Every
request ends: each phase that waits for pods has a deadline that was fixed when the request was
made. An answer to another request, or to one that is decided, changes nothing.
"""
