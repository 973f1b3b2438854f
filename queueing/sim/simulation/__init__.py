"""The engine in virtual time: workloads come, run and end, and what came of it is told.

`runner` is a simulation: a cluster's facts and engine on a heap of events, decided to the end at
each moment. Same facts, arrivals and seed, same decisions. `arrivals` are the workloads that come,
each with how long it will run. `scenario` reads the file that says what is simulated, and generates
them (with `durations` as random lengths); `swf` (a public trace format), `past` (workloads of a
cluster that have ended) and `recorded` (a recording) read them. `study` is one simulation, from its
beginning to its end.

`tally` watches a simulation and counts; `report` is what it found as JSON, `figures` are its
numbers for people, and `page` is all as one HTML page, on the `charts` beside it.
"""
