"""The controller process: the asyncio shell around the engine (`queueing.state`).

It watches the cluster, runs the engine, and writes what the engine decided. `cli` calls `app.run`
for `queueing run` and `queueing dev`.

Invariants: only the holder of the Lease writes. Every write of a decision carries a resourceVersion
and is sent only while the Lease outlasts its timeout. A decision is in a Workload's status or did
not happen; every later step follows from that status, so that a new leader continues where the last
one stopped.

Read in this order:

1. `app` is the process. It competes for the Lease and runs one `session` per term of leadership.
   `composition` makes the parts of a term, `term` is what they share; `configuration` derives their
   settings from Kueue's Configuration file. `standby` watches for metrics while another replica
   leads.
2. `intake` turns watch events into entries of the `stores` (every object as last seen), into facts
   for the engine, and into keys for the reconcilers.
3. `decisions` runs the engine and writes its decisions, through `writing`: fenced writes, Events,
   and writes that can be put off.
4. Reconcilers do what follows from an object's state. `work_queues` has their queues of keys, which
   `workers` serve, and tells the features that take part. `jobs` starts, stops and finishes Jobs,
   single ones and gangs; `workloads` does the rest of a Workload's life (checks, timeouts,
   retention) and writes why it waits; `queues` writes statuses and finalizers of ClusterQueues,
   LocalQueues, Cohorts and flavors; `queueable_kinds` has kinds queued that admins describe, and
   `pod_owners` groups of pods of StatefulSets and LeaderWorkerSets. `placement` follows nodes where
   flavors have a topology, and lets pods go to theirs; `variants` has Workloads wait in all flavors
   of a queue at once. `job_pods` lists the pods of Jobs.
5. `credits` is a feature with a `composition` of its own, as are the shells of
   `queueing.checkpoints` and `queueing.devices`.
6. `admission_policies` installs what the API server itself does to Jobs and pods at creation.
   `telemetry` (metrics, traces, read models for the serving process) hears of all the above, and
   nothing depends on it. `process` has what only concerns the operating process, such as probes.
"""
