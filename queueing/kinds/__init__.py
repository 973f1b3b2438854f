"""Kinds of jobs: each is a description, and everything here works on any of them.

Invariants: nothing does I/O or asks a clock; a stop restores what a start found, to the byte; an
object that a description cannot be applied to is an error that names the field, and concerns no
other object. Nobody else imports a built-in kind.

A description is a `QueueableKindSpec` of the API. Reading order: `paths` and `expressions` (what a
description is written in; `reads` tells which fields an expression needs), `shapes` and `compiler`
(the struct that objects are decoded to, and `rules` with their programs), `pod_sets` and `view`
(what one object says, without `nulls`), `starting` (start, stop and their patches), `jobs` (an
object as the controller sees it), `managed` (who is queued), `owners` (and in whose place), `roles`
(what the controller may do with objects), `support` (descriptions that the controller does not
follow), `hooks` (code beside a description), `frameworks` and `registry` (the built-in kinds, which
are in `builtin`), `grouping` (groups of pods with a Workload each), `external` (kinds that other
controllers queue), `examining` and `schemas` (a description held against an example, and against
the schema of its kind).
"""
