"""Has kinds queued that admins describe (QueueableKind), and says whether each of them is.

Invariant: a description that cannot be used concerns its own kind only. It is used once the kind
is served with all fields that it reads and may be read and written, and not a moment before.

`serving` asks the API server what it serves and permits, `verdicts` says what that means,
`in_force` keeps the descriptions that objects are read by, and `reconciler` decides which those are
and writes the condition Active.
"""
