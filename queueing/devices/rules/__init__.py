"""What is decided about devices without objects of the API. Pure.

`selector` holds an expression against a device; `containers` says which containers of a pod share
a request.
"""
