"""Asks the pods of an evicted Workload to save a checkpoint before its Jobs are suspended.

A request to save is a `Checkpoint` object; its phases and their table are in `checkpoints.rules`.

Invariants. The Checkpoint exists before any pod is asked, so that any replica can go on with it. A
phase is stored before what follows from it is done, and all of that can be repeated. While
`barrier` holds, no Job of the Workload is suspended. Quota stays charged until the pods are gone,
as after any eviction.

Reading order:

1. `barrier` delays the suspension of Jobs; `jobs` and `gangs` ask it.
2. `reconciler` moves a request on, each time that it looks at its Workload. `effective_terms` says
   which terms hold, `urgency` how much they are shortened, `observing` what Workload and Jobs tell
   of the request. `drivers` are the ways to ask pods and to read their answers.
3. `intake` stores Checkpoints, policies and pods; `policies` writes whether a CheckpointPolicy can
   be used; `composition` puts all of this together for a term.
4. `nodes` evicts Workloads from nodes that will go away, and `idle` those that do nothing, so that
   they can save.
5. `starting` adds to pods what they need to save and resume; `hook_charges` charges Jobs that save
   for a Workload to it; `request_events` and `telemetry` are what users and operators read.
"""
