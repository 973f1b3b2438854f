"""Gangs: several Jobs that start, stop and end as one Workload.

Invariant: a member is unsuspended only while its Workload is Admitted or being evicted. The
Workload's status is the only commit record: whoever looks at it and at the Jobs knows whether a
start is being completed or undone, so that any crash is continued by whoever leads next.
"""
