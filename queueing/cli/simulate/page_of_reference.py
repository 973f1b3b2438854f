"""The reference page about the JSON of simulations, read from the module that defines it."""

from queueing.cli.explanations_page import sections
from queueing.sim.simulation import report

BEGIN = """
# Simulation reports

What `queueing simulate -o json` prints. Fields may be added; none is taken away or gets another
meaning within a version. Times are RFC 3339 in UTC, lengths of time are seconds, amounts are
written as Kubernetes writes quantities. How a simulation is asked for:
[simulate a change](../tasks/simulate-a-change.md).
"""


def simulation_page() -> str:
    """Return the page, without a header."""
    return BEGIN + sections(report, {"Report": "SimulationReport"})
