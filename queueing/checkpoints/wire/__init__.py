"""Translates Checkpoints, CheckpointPolicies, and the requests to pods and their answers.

Pure, in both directions: wire objects to the terms and records of `checkpoints.rules`, and back.
Invariant: a record that is written and read again is the same, to the millisecond.

Reading order: `objects` and `names` (labels and annotations); `inbound` and `outbound`; `effective`
(which terms hold for a workload); `pods` (the request to a pod, and its answer), with `hook_job`
for the driver Job and `signing` for HTTP; `handover` (what the next run is told); `nodes` (taints
that announce a node's end); `stakes` (what stopping a workload would cost).
"""
