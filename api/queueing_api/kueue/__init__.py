"""`kueue.x-k8s.io`: the queueing API, one package per version."""
