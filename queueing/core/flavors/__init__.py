"""Flavor assignment: which flavor each resource of each pod set would get, and at what price.

`assign` answers for one workload on the tree as it stands and changes nothing. Preemption is asked
through the `Oracle` protocol only. Invariant: all resources of one resource group get the same
flavor per pod set, and an assignment of grade FIT fits what is available.
"""
