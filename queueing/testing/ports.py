"""Ports of loopback for servers that must be told theirs before they listen."""

import random
import socket
from itertools import islice

HOST = "127.0.0.1"
LOW, HIGH = 10_000, 32_000
"""Below what Linux gives to outgoing connections: between choosing a port and listening on it
nobody's connection takes it. Somebody else who chooses here hits it once in thousands of times."""


def free_ports(count: int) -> list[int]:
    """Return that many different ports on which nobody listens; raises OSError if none is found."""
    drawn = random.SystemRandom().sample(range(LOW, HIGH), 100 * count)
    found = list(islice(filter(_free, drawn), count))
    if len(found) < count:
        raise OSError(f"no {count} free ports of {HOST} between {LOW} and {HIGH}")
    return found


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
