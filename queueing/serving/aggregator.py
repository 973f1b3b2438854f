"""Believe the API server's aggregator, and nobody else, about who a user is."""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import msgspec
from aiohttp import web

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.errors import KubeError, may_pass
from queueing.kube.resources import CONFIG_MAPS

logger = logging.getLogger(__name__)

SOURCE = CONFIG_MAPS.at("extension-apiserver-authentication", "kube-system")
AGAIN = Backoff(1.0, 60.0)


@dataclass(frozen=True, slots=True)
class Aggregator:
    """The CA that signs the aggregator's client certificate, and the names it may carry."""

    ca: str = ""
    names: tuple[str, ...] = ()

    def is_caller(self, request: web.Request) -> bool:
        """Say whether the request came over a connection of the aggregator."""
        transport = request.transport
        connection = transport.get_extra_info("ssl_object") if transport is not None else None
        certificate = connection.getpeercert() if connection is not None else None
        if not certificate:
            return False
        subject = {key: value for part in certificate["subject"] for key, value in part}
        return not self.names or subject.get("commonName") in self.names

    def trust(self, context: ssl.SSLContext) -> None:
        """Have the context ask for, and verify, a client certificate of the aggregator."""
        if self.ca:
            context.load_verify_locations(cadata=self.ca)
            context.verify_mode = ssl.CERT_OPTIONAL


async def learn_aggregator(
    client: Client, believe: Callable[[Aggregator], None], again: Backoff = AGAIN
) -> None:
    """Have the aggregator believed as soon as the API server says who it is.

    Until then, and for good where the server refuses to say it, only tokens are believed. One that
    has just started does not know yet that we may ask.
    """
    for attempt in count():
        try:
            believe(await _read(client))
        except KubeError as error:
            if attempt == 0:
                told = "users are known by token only: %s cannot be read: %s"
                logger.warning(told, SOURCE.label, error)
            if not may_pass(error):
                return
        else:
            return
        await asyncio.sleep(again.delay(attempt))


async def _read(client: Client) -> Aggregator:
    data = msgspec.json.decode(await client.get(SOURCE)).get("data") or {}
    names = json.loads(data.get("requestheader-allowed-names") or "[]")
    return Aggregator(data.get("requestheader-client-ca-file", ""), tuple(names))
