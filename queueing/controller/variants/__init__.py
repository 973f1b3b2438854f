"""Concurrent admission: variants of a Workload, one per flavor, of which one is admitted.

`steps` decides, by a parent and its variants as they are (`family`); `reconciler` writes, and `doubts`
knows of which admissions it is not known whether they are written. The
engine knows only that variants of one parent outdo each other (`state.intake.variants`).
"""
