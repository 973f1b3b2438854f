"""How a workload is asked to save, and how it answers, by the driver that its terms name.

`notifier` finds the pods that are asked, tells them by an annotation or only follows them, and
listens to them; for those that are called it has `http_driver` (a signed POST), `exec_driver` (a
command in the container) and `hook_jobs` (a Job that saves for the workload). `errors` is what
keeps a request from being heard.
"""
