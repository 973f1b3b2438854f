"""A real Prometheus beside a cluster, which scrapes a replica each second."""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controlplane.build import prometheus
from e2e.identities import ADMIN
from queueing.testing.ports import free_ports

READY_S = 60.0
DRAWN_S = 600
"""The stretch of time of a panel."""
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prometheus:
    """How it is asked."""

    url: str

    def asked(self, path: str, **query: str) -> Any:
        """Return the data of an answer of its API. Raises HTTPError for a query that is wrong."""
        words = urllib.parse.urlencode(query)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{words}", timeout=30) as answer:
            return json.load(answer)["data"]

    def values(self, expression: str) -> list[Wire]:
        """Return the series that an expression yields now."""
        return list(self.asked("query", query=expression)["result"])

    def drawn(self, expression: str) -> list[Wire]:
        """Return the series that an expression yielded in the last minutes, as a panel draws it."""
        now = time.time()
        frame = {"start": f"{now - DRAWN_S:.0f}", "end": f"{now:.0f}", "step": "1"}
        return list(self.asked("query_range", query=expression, **frame)["result"])

    def firing(self) -> set[str]:
        """Return the names of the alerts that fire."""
        alerts = self.asked("alerts")["alerts"]
        return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}


@contextmanager
def scraping(cluster: Cluster, port: int, rules: str) -> Iterator[Prometheus]:
    """Run a Prometheus that scrapes /metrics at a port of this machine, with a file of rules."""
    (own,) = free_ports(1)
    folder = cluster.folder / f"prometheus-{own}"
    folder.mkdir()
    (folder / "rules.yaml").write_text(rules)
    target: Mapping[str, Any] = {
        "job_name": "queueing",
        "scheme": "https",
        "authorization": {"credentials": cluster.accesses[ADMIN].token},
        "tls_config": {"insecure_skip_verify": True},
        "static_configs": [{"targets": [f"{HOST}:{port}"]}],
    }
    every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings = {"global": every, "rule_files": ["rules.yaml"], "scrape_configs": [target]}
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    command = [
        str(prometheus() / "prometheus"),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={HOST}:{own}",
        "--enable-feature=exemplar-storage",
    ]
    process = cluster.run(folder.name, command)
    made = Prometheus(f"http://{HOST}:{own}")
    try:
        process.wait_until(lambda: _is_up(made), timeout_s=READY_S, what="scraping")
        yield made
    finally:
        process.terminate(grace_s=15)


def _is_up(made: Prometheus) -> bool:
    try:
        return any(one["value"][1] == "1" for one in made.values("up"))
    except OSError:
        return False
