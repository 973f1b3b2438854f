"""Runs the engine on manifests, without a cluster: plans and simulations.

It is the same engine as in production, on facts made from files, with a time that is an argument.
Invariants: no clock is read, no cluster is called, and the same input gives the same output, byte
for byte. `cli` calls it for `queueing plan`, `queueing devices` and others; tests and benchmarks
call it directly.

Reading order:

1. Input: `yaml_text` (on `yaml_nodes`) reads YAML with line numbers; `documents` are its objects;
   `kinds` validates them (`unknown_fields`), and `decoding` makes wire structs. `descriptions` are
   those of kinds of jobs, and `job_kinds` reads jobs of all kinds by them.
2. `intake` makes facts and settings of documents, with `creation` and `jobs` (jobs and the
   Workloads that they would get), `devices`, `stakes` and `contradictions`.
3. `plan` runs rounds on a `world` (workloads and an engine), which `transitions` moves on.
   `standing` completes rounds by workloads that were not judged; `lending` says who uses whose
   quota. `report` is the result as JSON.
4. `fleet` lists devices and their holders; `virtual_time` is a clock for simulations.
5. `simulation` lets workloads come, run and end in virtual time; `forecast` says by that when a
   waiting one is admitted. `spans` writes lengths of time for people.
"""
