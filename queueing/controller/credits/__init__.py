"""Credits on a live cluster: what is watched, and how ledgers are stored.

Policies, grants and accounts go to the engine, which counts. Accounts are written at most every
half minute, one object per cohort, and once more when the term ends, so that no credit is lost by
an orderly end; after any other, the statuses of Workloads tell what is not in them yet. That is why
a Workload keeps its finalizer until the account that covers its end is stored. Rows of usage go by
the same rules, one object per tree and hour, until they are old enough to be added up. Called by
`session`.

`composition` puts it together for a term. `intake` and `usage_intake` take in what is stored;
`accounts`, `budgets` and `usage_records` store it; `conditions` say of policies and grants whether
they have the effect that their authors expect.
"""
