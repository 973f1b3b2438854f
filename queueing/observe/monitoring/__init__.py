"""What is watched of the metrics: alerts for Prometheus and dashboards for Grafana, as data.

Invariants. Every metric that an expression names is a row of the table of metrics. The files in
`config/observability`, and the page about alerts, are written from here and from nowhere else.
"""
