"""`queueing kind`: which kinds of jobs there are, and what a description reads of an example.

`command` has the table of its commands: `check` (`descriptions` reads what it is given) and
`listing`.
"""
