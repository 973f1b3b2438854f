"""`batch/v1`: Jobs, as far as we read them."""
