"""Lets the engine decide, turns its decisions into writes, and tells it what became of them.

Invariant: every write ends in one of three outcomes, and only a refused one is taken back.
`cycles` is the loop that asks the engine whenever something changed, `effects` carries out what it
decided.
"""
