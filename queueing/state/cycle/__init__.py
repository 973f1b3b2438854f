"""Rounds, one after the other, until nobody is left whom another try could help.

`driver` runs them: `selection` takes the heads, `succession` replaces those that nothing can help,
`queueing.core.rounds` decides, `settlement` takes the decisions in, and `parking` notes what would
help who was not admitted, and who keeps its turn. `wakes` makes those ready again whom a change may
help, `standing` keeps others off what preemptors wait for.

Without a judgement, by numbers known beforehand: `hopeless` (cannot be helped), `prospects` and,
without a look at every head, `contest` (will be admitted), `supply` (the most that could be had).
`openness` is a memo of whom a queue lets in.
"""
