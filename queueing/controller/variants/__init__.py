"""Concurrent admission: variants of a Workload, one per flavor, of which one is admitted.

`steps` decides, by a parent and its variants as they are (`family`); `reconciler` writes, and
`doubts` notes writes whose outcome is unknown. The engine knows only that variants of one parent
outdo each other (`state.intake.variants`).
"""
