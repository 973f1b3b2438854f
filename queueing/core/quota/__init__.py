"""The quota tree: how much of each flavor-resource each queue and cohort may use, and uses.

ClusterQueues are leaves, Cohorts are inner nodes of any depth. Each node has one `Cell` per
flavor-resource, linked to the cell of its parent, so that every question is a walk of a few
pointers and every change touches only the path to the root.

Invariants: a cohort's quota and usage are always its own plus the sums over its children; changes
of usage inside `QuotaTree.attempt()` are undone; the structure and the sums depend only on the
objects and the usage, not on the order in which they came. `queueing.state` owns the tree, `rounds`
charges it.
"""
