"""A certificate that somebody else keeps in files."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from queueing.serving.certificates import Certificates, make
from queueing.serving.identity import Identity, follow_files

NOW = 1_790_000_000.0
BOUND_S = 20.0


def written(folder: Path, made: Certificates) -> None:
    for name, text in (("tls.key", made.key), ("ca.crt", made.ca), ("tls.crt", made.certificate)):
        (folder / name).write_bytes(text)


async def test_files_are_served_when_they_appear_and_their_ca_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queueing.serving.identity.TURN_S", 0.01)
    trusted: list[bytes] = []

    async def trust(authority: bytes) -> None:
        trusted.append(authority)

    identity = Identity()
    async with asyncio.TaskGroup() as group, asyncio.timeout(BOUND_S):
        following = group.create_task(follow_files(identity, tmp_path, trust))
        await asyncio.sleep(0.02)
        before = identity.present
        first, second = make(("a",), NOW), make(("a",), NOW)
        written(tmp_path, first)
        while first.ca not in trusted:
            await asyncio.sleep(0.01)
        assert (before, identity.present) == (False, True)
        written(tmp_path, second)
        while second.ca not in trusted:
            await asyncio.sleep(0.01)
        following.cancel()


def test_a_certificate_is_served_and_its_key_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    identity = Identity()
    identity.use(make(("a",), NOW))
    assert identity.present
    assert list(tmp_path.iterdir()) == []
