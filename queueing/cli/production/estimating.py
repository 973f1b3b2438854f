"""Has a process of its own make each estimate: it computes for seconds, and then gives all back.

One is made at a time, with a low priority, so that decisions are not delayed by who asks for many.
"""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from queueing.cli.production.lifeline import VARIABLE
from queueing.serving.estimates import PATIENCE_S, EstimateError

logger = logging.getLogger(__name__)
NONE = "no estimate can be made; the log of the controller says why"
_turn = asyncio.Lock()


async def estimated(snapshot: str, keys: Sequence[str]) -> bytes:
    """Return estimates by key, as JSON. Raises EstimateError."""
    environment = {name: one for name, one in os.environ.items() if name != VARIABLE}
    try:
        async with asyncio.timeout(PATIENCE_S), _turn:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "queueing.cli.entry", "estimate", *keys),
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                body, told = await process.communicate(snapshot.encode())
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
    except TimeoutError as error:
        raise EstimateError("there is no estimate in time; ask again") from error
    except OSError as error:  # a machine without room for one more process, or its memory
        logger.warning("no process can be started to make an estimate: %s", error)
        raise EstimateError(NONE) from error
    if process.returncode:
        # What it says may be of other namespaces than those of who asks.
        logger.error(
            "no estimate of %s: %s", ", ".join(keys), told.decode(errors="replace").strip()
        )
        raise EstimateError(NONE)
    return body
