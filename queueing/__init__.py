"""Job queueing and gang admission for Kubernetes, speaking Kueue's API."""

__version__ = "0.1.0"
