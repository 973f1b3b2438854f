"""Credits on a live cluster: stores the ledgers that the engine keeps, and reads them back.

The engine counts (`core.credits`, `state.credits`). Its ledgers are stored as CreditAccounts, one
object per cohort, each at most every `accounts.EVERY_S`, and once more when the term ends. After a
crash, what they lack is computed again from the times in Workloads' statuses. That is why a
Workload keeps its finalizer until the stored account includes its end. Rows of usage
(UsageRecords) follow the same rules, one object per tree and hour, until they are old enough to be
added up.

Reading order: `intake` and `usage_intake` handle watch events and feed the engine. `accounts`
stores CreditAccounts and says which other writes must wait for them; with it, `budgets` stores the
status of CreditBudgets, and `usage_records` UsageRecords. `conditions` writes whether policies and
grants have an effect. `composition` puts this together for a term; `session` runs it.
"""
