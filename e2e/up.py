"""Start a control plane with simulated nodes by hand: `python -m e2e.up`; Ctrl-C ends it."""

import argparse
import os
import signal
import sys
from contextlib import suppress

from e2e import identities
from e2e.components import Options
from e2e.controlplane.build import binaries
from e2e.loopback import control_plane
from e2e.nodes import make_nodes


def main() -> int:
    """Say where the kubeconfigs and logs are, and wait for Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m e2e.up", description=__doc__)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--emulated-version", default="")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        suppress(KeyboardInterrupt),
        control_plane(binaries(), Options(emulated_version=chosen.emulated_version)) as cluster,
    ):
        make_nodes(cluster.api(), chosen.nodes)
        for identity in identities.IDENTITIES:
            print(f"{identity}: {cluster.kubeconfig(identity)}")
        print(f"logs: {cluster.folder / 'logs'}")
        print(f"export PATH={cluster.binaries.folder}:$PATH KUBECONFIG={cluster.kubeconfig()}")
        print(f"ready; end it with Ctrl-C or: kill {os.getpid()}", flush=True)
        while True:
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
