"""`core/v1` and its small neighbours (`node`, `scheduling`), as far as we read them."""
