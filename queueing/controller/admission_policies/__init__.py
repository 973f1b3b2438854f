"""What the API server does to Jobs and pods when they are created or changed.

It suspends managed Jobs, fills in defaults, refuses what is invalid, and adds ResourceClaims to
pods. From Kubernetes 1.36 admission policies do all that; before it, those that change objects are
replaced by webhooks. `app` calls `installation` in each term.

Reading order: `rendering` makes the policies; `installation` applies them and waits until the API
server uses them, without writing those that are there already (`unchanged`). `job_webhooks` adds
the webhooks that older servers need. `injection` tries whether pods get their claims, by policy or
by webhook.
"""
