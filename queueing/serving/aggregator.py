"""Believe the API server's aggregator, and nobody else, about who a user is."""

import json
import logging
import ssl
from dataclasses import dataclass

import msgspec
from aiohttp import web

from queueing.kube.client import Client
from queueing.kube.errors import KubeError
from queueing.kube.resources import CONFIG_MAPS

logger = logging.getLogger(__name__)

SOURCE = CONFIG_MAPS.at("extension-apiserver-authentication", "kube-system")


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


async def read_aggregator(client: Client) -> Aggregator:
    """Read what the API server says of its aggregator; without it only tokens are believed."""
    try:
        data = msgspec.json.decode(await client.get(SOURCE)).get("data") or {}
    except KubeError as error:
        logger.warning("users are known by token only: %s cannot be read: %s", SOURCE.label, error)
        return Aggregator()
    names = json.loads(data.get("requestheader-allowed-names") or "[]")
    return Aggregator(data.get("requestheader-client-ca-file", ""), tuple(names))
