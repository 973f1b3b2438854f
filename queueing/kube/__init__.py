"""All communication with a Kubernetes API server: reading, watching, writing, leader election.

Invariants. Every request has a hard timeout. An error belongs to one of three families: refused (it
did not happen), unclear (it may have happened) or not sent; callers need no status codes to tell
them apart. Lists are quorum reads. One object has at most one write in flight. Nothing here knows
what a queue or a workload is.

Called by `controller`, `serving`, `cli` and `testing`. Reading order:

1. `resources` and `request` are addresses and requests as values; `client` sends them, over the
   connections of `session`, and raises `errors`. `listing`, `execution` and `deletion` build on it.
2. `reflector` lists and watches a kind; `workqueue` holds the keys of objects to be reconciled.
3. `outcome` sends writes of decisions and finds out whether they took effect. `writer` orders all
   writes by class; `pressure` adapts it to a slow server; `events` records Events.
4. `lease` is leader election, on a `lease_record`.
5. `config`, `kubeconfig`, `credentials` and `pem` say which server to talk to, and as whom.
"""
