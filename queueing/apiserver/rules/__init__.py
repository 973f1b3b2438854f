"""What a write does to an object before it is stored: pure functions per phase and per kind.

`creation` and `updating` prepare the metadata and call the rules of the kind; `names` checks
metadata; `jobs`, `pods`, `definitions`, `objects` hold what is special about a kind.
Called by `wire` and `simulation`; they know neither storage nor requests.
"""
