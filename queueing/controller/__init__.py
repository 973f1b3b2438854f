"""The asyncio shell around the engine: it watches, decides, writes, and nothing else.

Invariants: only the holder of the Lease writes; every write that a decision rests on carries a
resourceVersion and is fenced; what was decided is in a Workload's status or did not happen, and
every later step is found again from there. Called by `cli` (`queueing run`, `queueing dev`).

`app` is the process: it waits for the Lease and runs one `session` for each term of leadership. A
session's `pump` and `admin_objects` take watch events into `objects` and facts for the engine;
`cycles` lets the engine decide; `effects` turns decisions into writes. What follows from a status
is done by reconcilers, one key at a time: `jobs` and `gangs` (start, stop, finish), `workloads`
(the rest of a Workload's life), `statuses` (queues and cohorts), `waits` (reasons), `finalizers`.
They write with `hand`, note with `records` and `scribe`, and put off with `leisure` what nobody
waits for. `checkpoints`, `credits` and `devices` are features with a `part` each. `witness`,
`chronicle`, `stock` and `broadcast` tell metrics, traces and read models; nothing depends on them.
"""
