"""The pages of `docs/tasks`, played line by line on a cluster of `queueing dev`."""
