from tests.controller.conftest import definitions, pytest_asyncio_loop_factories, world

__all__ = ["definitions", "pytest_asyncio_loop_factories", "world"]
