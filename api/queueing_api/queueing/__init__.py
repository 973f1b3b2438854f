"""`queueing.dev`: kinds of our own, which stand beside Kueue's and add no field to them."""
