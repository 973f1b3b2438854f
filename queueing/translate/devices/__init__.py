"""Devices: what flavors offer, what workloads ask of it, and the claims that it becomes."""
