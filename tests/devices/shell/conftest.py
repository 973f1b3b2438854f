from tests.controller.conftest import definitions, world

__all__ = ["definitions", "world"]
