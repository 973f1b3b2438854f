"""Preemption: which workloads would have to be evicted so that another one fits.

Everything here is a what-if on the quota tree, undone before it returns. Victims are only named:
their quota stays charged until a fact says that it is released. `classical` has the rules without
fair sharing, `queueing.core.fair_sharing` those with it; both return `Target`s.
"""
