"""The blocks of pages that need an installation, played on the real control plane.

No Service leads to a replica that runs here, and simulated nodes pull no images: whatever the pages
say that needs neither is typed as it is written.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e.api import holds
from e2e.controlplane.build import Binaries
from e2e.guides.pages import FOLDER, ROOT, Installed, Manifest, steps
from e2e.guides.stage import Person, at_home
from e2e.guides.worlds import World
from e2e.installed import AGGREGATED, API_SERVICE, Installation, installation, lead_here
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import start
from e2e.serving import until
from e2e.tools.asking import pending

TEAM = "team"
PATIENCE_S = 180.0
"""How long one command may take: a removal waits until all objects are gone."""
ASKED = ("why-does-it-wait", "record-and-replay")


def blocks(page: str) -> list[Installed]:
    """Return the blocks of a page that are played here, in order."""
    return [one for one in steps(FOLDER / f"{page}.md") if isinstance(one, Installed)]


def types(person: Person, block: Installed) -> None:
    for command in block.commands:
        person.types(command)


@pytest.fixture(scope="module")
def place(built: Binaries) -> Iterator[Installation]:
    """Lend an installation with a queue where a Job has ended, one runs, and one waits."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        with installation(cluster) as made:
            api = made.api
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
            api.create(flavor("any"))
            api.create(cluster_queue("vision", {"any": {"cpu": "4"}}))
            api.create(local_queue(TEAM, "main", "vision"))
            api.create(job(TEAM, "ends", queue="main", pods=Pods(cpu="4", run_s=0.2)))
            api.wait_one("Job", "ends", _has_ended, namespace=TEAM)
            for name in ("runs", "waits"):
                api.create(job(TEAM, name, queue="main", pods=Pods(cpu="3", run_s=None)))
            for name in AGGREGATED:
                api.wait_one(API_SERVICE, name, lambda one: holds(one, "Available"))
            until(lambda: len(pending(made, "clusterqueues/vision")) == 1, "one waits")
            yield made


def _has_ended(job: dict[str, dict[str, object]]) -> bool:
    return bool(job["status"].get("completionTime"))


@pytest.fixture
def person(place: Installation, built: Binaries, tmp_path: Path) -> Person:
    return someone(place.cluster.kubeconfig(), built, tmp_path)


def someone(kubeconfig: Path, built: Binaries, folder: Path) -> Person:
    """Return somebody in a checkout, with the folder that sets the image in it."""
    for name in ("config", "examples", "docs", "api"):
        (folder / name).symlink_to(ROOT / name)
    (page,) = (one for one in steps(FOLDER / "install.md") if isinstance(one, Manifest))
    (folder / "my-cluster").mkdir()
    written = page.text.replace("../queueing/", "../")
    (folder / "my-cluster" / "kustomization.yaml").write_text(written)
    for name, text in World.of("record-and-replay").files.items():
        (folder / name).write_text(text.replace("name: main", "name: vision"))
    made = at_home(folder, built.command("kubectl"), kubeconfig, TEAM)
    made.patience_s = PATIENCE_S
    return made


@pytest.mark.parametrize("page", ASKED)
def test_an_installation_answers_what_a_page_has_one_ask(person: Person, page: str) -> None:
    for block in blocks(page):
        types(person, block)


def test_an_installation_takes_over_from_kueue_and_hands_over_to_it(
    place: Installation, person: Person
) -> None:
    """That what Kueue runs goes on is in `e2e/switching`: here its Deployment is ours already."""
    stop, install, stop_again, hand_over = blocks("switch-from-kueue")
    types(person, stop)
    types(person, install)
    lead_here(place.api, place.settings)
    types(person, stop_again)
    place.controller.stop()
    types(person, hand_over)
    policies = place.api.items("MutatingAdmissionPolicy")
    assert not [one for one in policies if one["metadata"]["name"].startswith("queueing-")]


def test_one_command_removes_an_installation(place: Installation, person: Person) -> None:
    """Last of those on it: nothing is left."""
    _, remove, *_ = blocks("install")
    replica = start(place.cluster, "again")
    try:
        told = (place.cluster.folder / "again.yaml").read_text()
        lead_here(place.api, yaml.safe_load(told))
        replica.wait_ready()
        types(person, remove)
    finally:
        replica.stop()
    assert place.api.items("CustomResourceDefinition") == []


def test_a_cluster_is_used_from_a_workstation_and_installed_on(
    built: Binaries, tmp_path: Path
) -> None:
    install, _, begin, end = blocks("install")
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        person = someone(cluster.kubeconfig(), built, tmp_path)
        types(person, begin)
        types(person, end)
        assert cluster.api().items("CustomResourceDefinition") == []
        types(person, install)


def test_every_block_for_an_installation_is_played_here() -> None:
    found = {page.stem: len(blocks(page.stem)) for page in FOLDER.glob("*.md")}
    assert {page: number for page, number in found.items() if number} == {
        **dict.fromkeys(ASKED, 1),
        "install": 4,
        "switch-from-kueue": 4,
    }
