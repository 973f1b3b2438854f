"""The commands of `queueing`, also installed as `kubectl-queueing`.

Here everything is composed: files, the engine, the controller, the embedded server. Invariants: a
command's module, and with it anything slow to import, is loaded only when that command runs; tables
are plain columns that awk can read; colours appear on a terminal only; an error names the file, the
line or the field, and the way out.
"""
