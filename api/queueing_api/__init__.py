"""Wire types of the APIs that queueing speaks; imports nothing of the controller."""
