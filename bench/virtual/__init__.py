"""The engine behind a model of the API server, in virtual time: `python -m bench.virtual`.

A run takes seconds instead of minutes and gives the same numbers each time, so that rules of the
engine are compared by the dozen. The engine is the product's; nothing here knows more of it than
facts, decisions and `Engine`. All else is made up: `cores` (what writes and cycles cost), `store`
(what is stored, and the watch), `teams` (who creates workloads and ends them), `controller` (who
runs the engine). `tally` watches the store and counts; it also raises when more quota is held than
the queues allow. What is tried: `loads`.
"""
