"""The controller on a cluster: `queueing run`, which is two processes, and `queueing serve`.

`run` and `serve` are the commands, by `choices` (the configuration files, and flags that override
them). `supervisor` starts both processes (`parts`, each from its start to its end) and ends with
either; `lifeline` ends a part whose supervisor is gone, however that ended. They meet in the
`workplace`, a folder of that run, and use the fastest event loop there is (`loops`). `estimating`
has a process make each estimate of a wait: it runs the command `estimate`.
"""
