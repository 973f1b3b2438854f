"""When a waiting workload will be admitted: a range, made of several possible futures.

`outlook` runs the engine forward in virtual time from facts, once for each of several draws, and
makes a range of the moments of admission. `guesses` draws how long work runs; `newcomers` draws
who else will come; `estimate` is the outlook in words.
"""
