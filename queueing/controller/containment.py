"""A mistake of ours about one object must not stop the work for all others.

What the server says is retried by the work queue. Anything else that escapes a look is a bug: it is
logged with its traceback, and the object is left alone for a while.
"""

import logging
from collections.abc import Awaitable, Callable

from queueing.core.names import Key
from queueing.kube.errors import KubeError
from queueing.kube.workqueue import WorkQueue

logger = logging.getLogger(__name__)

REST_S = 30.0
Look = Callable[[Key], Awaitable[None]]


def contained(look: Look, queue: WorkQueue[Key]) -> Look:
    """Return the look, made safe to be served by the queue's workers."""

    async def safely(key: Key) -> None:
        try:
            await look(key)
        except KubeError:
            raise
        except Exception:
            logger.exception("%s cannot be handled: a bug; it rests for %.0f s", key, REST_S)
            queue.add_after(key, REST_S)

    return safely
