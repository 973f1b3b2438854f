"""`queueing usage`: who used, borrowed, lent and wasted how much, and what it costs.

`command` reads the flags; `sources` has the numbers (kept rows, and for other trees the
Workloads), as `lines`, `attribution` divides what a queue lent between its LocalQueues; `database`
keeps the rows in an SQLite file; `formats` prints the lines, as a `page` too, and `chart` draws
them.
"""
