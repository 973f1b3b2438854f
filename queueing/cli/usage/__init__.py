"""`queueing usage`: who used, borrowed, lent and wasted how much, and what it costs.

`command` reads the flags; `sources` has the numbers (kept rows, and for other trees the Workloads),
`database` keeps them in an SQLite file; `formats` prints them, as a `page` too.
"""
