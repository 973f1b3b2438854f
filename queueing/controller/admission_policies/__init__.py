"""What the API server does by itself with Jobs and pods when they are created or changed.

From Kubernetes 1.36 by admission policies, before that by the webhooks of `job_webhooks`. Policies
are made by `rendering` and put in force by `installation`, which writes none that is there already
(`unchanged`). `injection` tries whether pods are given their claims, by whatever means.
"""
