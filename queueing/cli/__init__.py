"""The commands of `queueing`, also installed as `kubectl-queueing`.

Here everything is composed: files, the engine, the controller, the embedded server. Invariants: a
command's module, and with it anything slow to import, is loaded only when that command runs; tables
are plain columns that awk can read; colours appear on a terminal only; an error names the file, the
line or the field, and the way out.

`entry` is what installed programs run first (`interrupts`: Ctrl-C is never a traceback); `main` has
the table of commands (`lazy`). A command has the module of its name, or a package: `production`
(`run`, `serve`), `local` (`demo`, `dev`), `usage`, `kind` (`check`, `list`), `get` (`get`, `top`),
`simulate`, `submit`, `topology`, `trace`.
Commands that ask: `explain` (its answers: `explanations`, with `--eta` `prospects`), `plan` (laid
out by `plan_tables`, its places by `plan_places`), `credits` (with `credit_surroundings`),
`budgets`, `devices`; they read files, or a cluster by `live` (which of them, says `reading`).
`record` writes a recording of a running controller (by `recording`), `replay` repeats one; `ui`
leads a browser to the page by `page_forward`, on a port that `loopback` opens. Commands that write:
`stop`, `suspend` and `resume` (`activity`), `requeue`, `delete`, `create`, `hand_over`,
`uninstall`; which cluster, says `reaching`. What people name is read by `subjects`, found by
`resolving` and completed by `names`. Commands that print: `crds`, `manifests`, `completion`,
`version`. All print by `output`, tables with colours by `tables`, and what several of them are
asked is spelt in `options` and `compatibility`. `reference` writes pages of the documentation from
the code (one of them: `explanations_page`), `roles` what the controller may do to the kinds that it
knows.
"""
