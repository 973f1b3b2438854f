"""Job controller, scheduler and kubelet in one, for the embedded server: nothing really runs.

Jobs that are not suspended get pods, pods get nodes that have room for them, run for as long as an
annotation says, and end; Jobs count and finish. It works directly on the memory, as a client
without HTTP would. `jobs`, `scheduling` and `pods` are pure decisions; `cluster` is the loop, and
`job_events` says what it does to Jobs.

Simplified on purpose: a failed container fails its pod, pods carry no tracking finalizer, devices
of ResourceClaims are not allocated, and volumes and images do not exist.
"""
