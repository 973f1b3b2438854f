"""The pending workloads of each ClusterQueue. Knows nothing of quota that is in use.

`pending` holds those of one ClusterQueue, in groups of equivalent workloads (`peers`), each in one
state. A group that competes for the queue's turn is in a lane, one that waits for an amount of
quota on a shelf.
"""
