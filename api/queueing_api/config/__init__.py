"""`config.kueue.x-k8s.io`: the file that configures the controller, read once at its start."""
