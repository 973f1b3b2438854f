"""What is decided about devices without objects of the API: which serve a request, how many pods.

Pure. Reading order: `index` (slices and nodes → devices) and `requests` (what pods ask for);
`selector` (an expression held against a device), `matching` (which devices satisfy a request),
`packing` (how many pods they could serve), `on_nodes` (how many of them are free); `containers`
(which containers of a pod share a request), `free` (a text on free devices), `messages` (all that
users are told).
"""
