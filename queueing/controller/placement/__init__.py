"""Placement by topology on a cluster: what is free on nodes, and which node each pod goes to.

`nodes` tells the engine of nodes and of what pods use of them; `ungating` lets pods go to the nodes
that their Workload was given; `failures` notes which of these nodes failed. Both look at what
`placed_workloads` and `pods` remember. `composition` watches for all, once a ResourceFlavor has a
topology.
"""
