"""`queueing submit`: queue a command or a manifest.

`command` is its options; `jobs` makes what is submitted, `following` tells how it goes on.
"""
