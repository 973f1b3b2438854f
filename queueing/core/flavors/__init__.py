"""Flavor assignment: which flavor each resource gets, by preemption or borrowing if need be.

`Search.assign` answers for one workload on the present usage and changes nothing. It asks about
preemption only through the `Oracle` protocol. Invariant: all resources of one resource group get
the same flavor per pod set, and an assignment of grade FIT fits what is available.
"""
