"""How Jobs become Workloads, and how their pod templates are changed at a start and restored.

Invariant: a stop restores exactly the pod template that the start found, byte for byte.

Reading order: `composition` (the Workload of a Job) with its `pod_sets`; `view` is a job of any
kind, which `queueing.kinds` reads; `indexes` is for Indexed Jobs; `injection` is what a start adds
to pods. `gang_keys` says which gang a job is of; `gang` and `gang_workload` are the same for
several Jobs that are one Workload; `slices` and `slice_pods` are about the several Workloads of an
elastic job.
"""
