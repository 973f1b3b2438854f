"""StatefulSets and LeaderWorkerSets: their pods are queued as groups, as long as they serve.

Each group has a Workload that exists before its pods. `steps` says, without any I/O, which
Workloads are to be made, held, changed or let go; `reconciler` does that. `marking` gives pods the
marks of their group, by which `jobs` starts and stops them with that Workload as it does any group,
and `revisions` lets pods go that an update is about to replace.
"""
