"""Fair sharing: who borrows much yields to who borrows little.

`shares` measures a node by the largest part that it borrows of what its parent could lend,
divided by its weight. `order` holds a tournament over these shares among the heads of a round,
`preemption` finds victims by them. Use within a node's own quota never counts. Shares are
floats, divided in Kueue's order, so that what looks like a tie falls as it does there.
"""
