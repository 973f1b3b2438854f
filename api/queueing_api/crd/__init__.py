"""CustomResourceDefinitions, generated from the models.

The models say types, limits and defaults; `resources` says how a kind is served and printed;
`rules` says in CEL what types cannot; `kubernetes` holds the full schema of pod templates.
`python -m queueing_api.crd --write FOLDER` writes the files, `--check FOLDER` compares them.
"""
