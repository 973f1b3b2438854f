"""Asks workloads to save their work before they are stopped, and keeps what they saved.

Invariants. The Checkpoint exists before any pod is asked, and tells any replica how to go on; a
step is stored before what follows from it is done, and both can be done again. While a request
holds the stop (`barrier`), no Job of its Workload is suspended; quota stays charged to it until its
pods are gone, as for any eviction. Called by the session's workers, a Workload's key at a time.

`composition` puts it together for a term, `intake` takes Checkpoints, policies and pods in. A
request: `reconciler` brings it a step further each time it looks, by what `observing` finds, on the
`effective_terms`, no slower than `urgency` allows, through `drivers`. Who else evicts so that work
can save: `nodes` (that go away) and `idle` (workloads that do nothing). What follows: `starting`
(what a start adds to pods), `hook_charges` (Jobs that save use quota), `request_events` and
`telemetry` (what users and operators read). `policies` says whether a CheckpointPolicy can be used.
"""
