"""Who waits in a ClusterQueue. Knows nothing of quota that is in use.

`pending` is one ClusterQueue's: groups of equal workloads (`peers`), those that compete for its
turn (`lanes`), those that wait for an amount of quota (`shelf`, each with a `footing`), every one
with a state (`stands`). `lines` remembers what holds of a queue until objects change.
"""
