"""Placement by topology on a cluster: what is free on nodes, and which node each pod goes to.

`nodes` tells the engine of nodes and of what pods use of them; `ungating` lets pods go to the nodes
that their Workload was given. `composition` watches for both, once a ResourceFlavor has a topology.
"""
