"""The pending workloads of each ClusterQueue. Knows nothing of quota that is in use.

`pending` holds those of one ClusterQueue, in groups of equivalent workloads (`peers`), each in one
state (`stands`). Groups that compete for the queue's turn are in `lanes`, groups that wait for an
amount of quota on a `shelf`.
"""
