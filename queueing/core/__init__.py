"""The rules of admission: pure values and functions.

Facts come in, decisions go out. Nothing here does I/O, reads a clock, or knows a wire type: the
same facts give the same decisions, always. `queueing.state` keeps the memory between cycles and is
the only caller that keeps anything; `queueing.translate` makes the facts and spells the decisions.

The way of a round: `rounds` takes the heads; `nomination` asks `flavors` for an assignment and
`preemption` (or `fair_sharing`) for victims, on the `quota` tree; `ordering` and `fair_sharing`
say who comes first; `processing` decides one entry after the other, on the `draft` of what those
before it took; `reasons` holds the words.
`lifecycle` says what must happen to a workload besides quota.
"""
