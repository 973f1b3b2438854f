"""What was last seen of devices, in one term of leadership; filled by `shell.intake`.

Begin with `objects` (rules, hardware, templates and claims), then `claim_charges`: what allocated
claims are charged.
"""
