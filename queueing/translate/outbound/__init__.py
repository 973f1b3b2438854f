"""Decisions and lifecycle steps → bodies of writes: merge patches with a resourceVersion.

Invariant: a step is one patch, which can be applied only to the version of the object that it was
made from. Types, reasons and messages of conditions are Kueue's, because people and tools rely on
them.

`workloads` has a function per step of a Workload's life, and `admissions` those that give it quota,
places and `checks`; `variants` has those of concurrent admission. `queues` has the statuses of
queues and cohorts, `pods` what is written to pods. All build on `conditions`.
"""
