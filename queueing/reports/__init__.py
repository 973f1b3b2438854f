"""Counts, usage and order of queues, for status, metrics, visibility and plans.

Read from the engine's memory by whoever shows them; no decision depends on them. `queues` finds
what is told of a ClusterQueue, a LocalQueue or a cohort, and who waits there. `views` has the types
of these answers.
"""
