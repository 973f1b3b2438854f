"""What the API server does by itself with Jobs and pods when they are created or changed.

From Kubernetes 1.36 by admission policies that `policies` renders, applies and tries; before that
by the webhooks of `job_webhooks`. `injection` tries whether pods are given their claims, by
whatever means; `unchanged` spares writes of policies that would change nothing.
"""
