"""The cluster's objects as they were last seen, with indexes to find them.

Plain memory of one term of leadership: the intakes fill it, all others read it, and none of it is
stored. Invariant: an object is replaced as a whole and never changed in place.

Begin with `objects`, which holds the rest: `indexes` (also of which Jobs and Workloads belong to
which gang), the memory of `queueing.checkpoints` and of `queueing.devices`, and `workload_counts`
(numbers of Workloads for metrics). `by_name` is a small helper of these.
"""
