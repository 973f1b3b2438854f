"""What tests are built from, ours and other people's: builders, worlds, fakes, obedient cluster.

Public: a plugin's tests may import it. Nothing of the product imports it.
"""
