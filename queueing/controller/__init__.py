"""The asyncio shell around the engine: it watches, decides, writes, and nothing else.

Invariants: only the holder of the Lease writes; every write that a decision rests on carries a
resourceVersion and is fenced; what was decided is in a Workload's status or did not happen, and
every later step is found again from there. Called by `cli` (`queueing run`, `queueing dev`).

The process. `app` waits for the Lease and runs one `session` for each term of leadership;
`composition` makes its parts, by what `configuration` reads from the file. `admission_policies` are
what the API server does by itself with Jobs and pods. `process` keeps it well.

In. `intake` takes watch events into `stores` (what was last seen of every object) and into facts
for the engine.

`decisions` lets the engine decide and carries out what it decided.

What follows from a status is done by reconcilers (`workers`), one key at a time: `jobs` and `gangs`
(start, stop, finish), `workloads` (the rest of a Workload's life, and why it waits), `queues`
(statuses and finalizers). They write by `writing` (fenced writes, Events, what can be put off).
`checkpoints`, `credits` and `devices` are features, each with a `composition` of its own.

`telemetry` (metrics, traces, what the serving process is told) is told of all this, and nothing
depends on it.
"""
