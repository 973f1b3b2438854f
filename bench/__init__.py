"""How fast it is, beside how fast it could be at all; docs/performance.md has the numbers.

Every scenario on an API server measures, in the same run, a floor: the writes that nobody can do
without, by a client that decides nothing. Run by `make bench`; not shipped, imported by nobody.
"""
