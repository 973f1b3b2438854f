"""The rules of admission: pure values and functions.

Facts come in, decisions go out. Nothing here does I/O, reads a clock, or knows a wire type: the
same facts give the same decisions, always. `queueing.state` keeps the memory between cycles and is
the only caller that keeps anything; `queueing.translate` makes the facts and spells the decisions.
"""
