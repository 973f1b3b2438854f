"""Translates Checkpoints, CheckpointPolicies, and the requests to pods and their answers.

Pure, in both directions: wire objects to the terms and records of `checkpoints.rules`, and back.
Invariant: a record that is written and read again is the same, to the millisecond.

Reading order: `objects` and `names` (labels and annotations); `inbound` and `outbound`; `effective`
(which terms hold for a workload); `pods` (the request to a pod, its answer, and what the next run
is told), with `hook_job` for the driver Job; `nodes` (taints that announce a node's end); `stakes`
(what stopping a workload would cost).
"""
