"""All conversation with a Kubernetes API server: reading, watching, writing, leading.

Invariants. Every request has a hard timeout. An error is one of three families: refused (it did not
happen), unclear (it may have happened) and not sent; nobody above this package looks at a status
code to tell them apart. Lists are quorum reads. One object has at most one write in flight. Nothing
here knows what a queue or a workload is.

Called by `controller`, `serving`, `cli` and `testing`.
"""
