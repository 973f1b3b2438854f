"""`meta/v1`: what every Kubernetes object carries, as far as we read it, and Kubernetes' times."""
