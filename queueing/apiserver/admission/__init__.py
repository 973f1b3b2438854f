"""Calls to other programs that a write or a read needs: admission and conversion webhooks.

Admission *policies* are stored but not evaluated here; that is the real server's part.
Called by `wire`.
"""
