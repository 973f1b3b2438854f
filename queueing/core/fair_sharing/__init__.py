"""Fair sharing: queues that borrow little come before queues that borrow much (KEP-1714).

`shares` computes the share of a node: the largest fraction, over resources, that it borrows of what
its parent could lend, divided by its weight. Usage within a node's own quota never counts. `order`
sorts the heads of a round by shares, `preemption` finds victims by them, and `sparing` gives back
those that are not needed. `patience` is what credits add. Shares are floats, divided
in the same order as in Kueue, so that near ties are decided alike.
"""
