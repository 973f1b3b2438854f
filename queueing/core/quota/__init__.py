"""The quota tree: who may use how much of what, and how much of it is used.

ClusterQueues are leaves, Cohorts are inner nodes of any depth. Each node has one `Cell` per
flavor-resource, linked to the cell of its parent, so that every question is a walk of a few
pointers and every change touches only the path to the root.

Invariants: a cohort's quota and usage are always the sums its children give it; what happens
inside `QuotaTree.attempt()` leaves no trace; the shape and the sums depend on the objects and the
usage alone, never on the order in which they came. `state` owns the tree, `rounds` spends it.
"""
