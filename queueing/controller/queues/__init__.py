"""Queues, cohorts and flavors as objects: what we write into them, and how they hang together.

`statuses` keeps the status of queues and cohorts true, seldom enough; `finalizers` keeps a queue or
flavor from going while it is used; `cohorts` says which cohorts stand above a queue.
"""
