"""Device selectors: the part of CEL that they are written in, and the functions that DRA adds.

`selector.compiled` turns an expression into something that judges devices. An expression that
Kubernetes would refuse, one that fails on a device, and one that this evaluator does not know are
three different answers; the last is never guessed. Invariant: what is answered with true or false
is what `k8s.io/dynamic-resource-allocation/cel` answers.
"""
