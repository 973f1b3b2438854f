"""`queueing kind`: which kinds of jobs there are, and what a description reads of an example.

`command` has the table of its commands: `check` and `listing`.
"""
