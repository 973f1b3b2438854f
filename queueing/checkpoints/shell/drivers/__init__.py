"""The ways to ask pods to save, and to read their answers; the terms name one as `driver`.

`notifier` is what the reconciler calls. It finds the pods to be asked, and serves the drivers that
need no more than pods' annotations and ends. The others are `http_driver` (a signed POST to each
pod), `exec_driver` (a command in a container) and `hook_jobs` (a Job that saves for the workload).
"""
