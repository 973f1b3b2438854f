import asyncio

import pytest

from queueing.cli.production import loops


def test_the_fastest_loop_runs_the_work() -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append(type(asyncio.get_running_loop()).__module__)

    loops.run_to_the_end(work())
    assert seen == ["uvloop"]


def test_without_uvloop_the_loop_is_asyncios(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "find_spec", lambda _: None)
    assert loops.loop_factory() is asyncio.new_event_loop
