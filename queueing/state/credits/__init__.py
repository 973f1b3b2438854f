"""Credits between cycles: from what statuses say to ledgers, and from balances to weights.

A ledger stays `lag_s` behind the clock, so that by then everything written before has been heard
of, and counts at the whole seconds that objects store. So who starts anew from the stored accounts
and the objects gets the same sums. Weights are bent at fixed points in time, a 256th of the horizon
apart, so that nobody's place depends on when somebody looked.

`credits` is what the engine calls. `policies` says which one counts where, `presence` who holds
quota since when and until when, `grants` what is given away; both write into the `agenda` what
happens to ledgers and when. `books` are the ledgers, `book` is one of them; `queue_books` are those
of namespaces within queues, `queue_book` one of these. `accounts` is what is written down and read
back, `stored` what workloads wait for in it, `shares` what balances do to shares and to whom these
may take, `restraints` what those hold who may not borrow. `usages` are rows for reports, where a
policy has them kept, and `meter` those of one tree.
"""
