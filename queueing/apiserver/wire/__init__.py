"""HTTP: paths, bodies, verbs, watches, tables, discovery and OpenAPI over the memory.

`dispatch` is the entry; one request touches `call` (what was asked), one verb module, and `bodies`
(how it is answered). Only this package and `admission` await. Called by `server`.
"""
