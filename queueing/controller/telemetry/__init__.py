"""Metrics, traces, readiness, and what the serving process is told.

Invariant: nothing here changes a decision. Begin with `reporter`, which is called with everything
that happens in a term, and knows the readiness that probes return. It feeds `traces`, the counters
and histograms of `queue_metrics`, and `gauges` and `workload_gauges`, which are measured when
somebody scrapes. `broadcast` sends readiness and metrics to the serving process and answers its
questions for lists of pending workloads.
"""
