"""What the cluster's objects were when they were last seen, with the indexes that somebody needs.

Plain memory of one term of leadership: filled by the intakes, read by everybody else, written to no
server. Invariant: an object is replaced as a whole and never changed in place.

`objects` holds them all. Parts of it: `gang_members` (which Jobs and Workloads belong to a gang),
`checkpoints`, `devices` (hardware, templates and claims) with `allocations` (what claims were
given), and `workload_counts` (how many Workloads stand where). `indexes` and `by_name` are what
they are made of.
"""
