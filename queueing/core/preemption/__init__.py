"""Preemption: which workloads would have to go so that another one fits.

Everything here is a what-if on the quota tree, undone before it returns. Victims are only named;
their quota stays charged until a fact says that they are gone. `classical` holds the rules without
fair sharing, `queueing.core.fair_sharing` those with it; both give the same kind of `Target`.
"""
