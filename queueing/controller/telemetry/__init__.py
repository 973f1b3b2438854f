"""What the process tells of itself. Invariant: nothing here reaches a decision.

`reporter` hears of whatever happens in a term. What it heard becomes traces (`traces`), counters
and histograms (`queue_metrics`), gauges (`gauges`, measured when somebody scrapes) and what the
serving process is told (`broadcast`).
"""
