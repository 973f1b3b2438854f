"""`queueing simulate`: what queues, policies and a load would do, in virtual time.

`command` has the options, `settings` makes a study of files, traces or a cluster, `tables` writes
what came of it, and `progress` tells on a terminal how far it is. `page_of_reference` is the
page about the JSON.
"""
