"""Checkpoints and their policies, and what is written to pods and read from them.

Pure, both ways: wire objects to the terms and records of `core.checkpoints`, and back. Invariant:
a record that is written and read again is the same, to the millisecond.
"""
