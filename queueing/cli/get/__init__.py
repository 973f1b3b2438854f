"""`queueing get` and `queueing top`: what is there, as rows.

`command` is `get`, `top` the live view. `kinds` says which columns an object of each kind has,
`states` how a Workload stands. Objects are read by `reading`; `matching` keeps those that the
options ask for, and `watching` goes on with what changes. Laid out by `tables` of the package
above.
"""
