"""Saving work before it is stopped: terms, the life of a request, what pods answer.

Pure: `step` takes what happened to the next record, `due` says what time itself brings. A record
is all that a replica needs to go on, so it is stored after each step, and what must be done in a
phase (`DUTIES`) can be done again. Called by the controller's checkpoint driver.

Invariants. Nobody is told to end before it was asked, unless its terms say so. A request ends:
every phase that waits for pods has a deadline that was fixed when the request was made. An answer
to another request, or to one that is decided, changes nothing.
"""
