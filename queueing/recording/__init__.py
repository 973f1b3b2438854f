"""What the engine is told and what it answers, written down: recordings and snapshots.

A recording is text: a JSON value a line. It holds facts, outcomes and times, and the decisions that
came of them; nothing else is known to the engine, so neither secrets nor environments of pods are
in it. Whoever gets one can repeat it, and it costs nothing while none is made.

`lines` is the format. `recorder` is an engine that writes; `codec` makes values of the rules plain,
and back. `replay` repeats a recording and says where it differs. `snapshot` writes what an engine
knows at one moment, `following` what changes between two. `run_times` is how long work ran lately,
of which estimates are made.
"""
