import asyncio
import logging

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


CUT = "unable to perform operation on <TCPTransport closed=True>; the handler is closed"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(RuntimeError(CUT), [], id="a connection was cut"),
        pytest.param(RuntimeError("something else"), ["it broke"], id="another error"),
        pytest.param(None, ["it broke"], id="no error at all"),
    ],
)
def test_what_no_task_hears_of_is_logged_but_for_a_connection_that_was_cut(
    error: Exception | None, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        context = {"message": "it broke", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

    with caplog.at_level(logging.WARNING):
        loops.run_to_the_end(work())
    assert [one.message.splitlines()[0] for one in caplog.records] == told
