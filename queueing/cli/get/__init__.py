"""`queueing get` and `queueing top`: what is there, as rows.

`command` is `get`, `top` the live view. `kinds` says which columns an object of each kind has, and
`states` how a Workload stands; `matching` keeps the objects that the options ask for, and
`watching` goes on with what changes. Laid out by `tables` of the package above.
"""
