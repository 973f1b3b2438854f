"""`resource.k8s.io/v1` (dynamic resource allocation), as far as we read it."""
