"""CEL, the expression language of Kubernetes: compiled once, evaluated on plain values.

`program.compiled` turns an expression and the names of its variables into a program; a program
called with their values (what JSON decodes to) returns a value. An expression that Kubernetes would
refuse, one that fails on what it is given, one that this evaluator does not know and one that costs
too much are four different errors; none of them is ever guessed away.

Pure: no I/O, no clock, nothing of ours but quantities. Invariant: what is answered is what
Kubernetes answers; a test asks the API server's own evaluator about every expression of ours.
"""
