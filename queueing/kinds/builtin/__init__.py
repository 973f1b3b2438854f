"""The built-in kinds: a module each, or one for those of a family. Only the registry imports them.

A module has the description, and where that cannot say all, hooks. Those that are data alone:
`job` (but for indexes), `jobset`, `mpijob`, `kubeflow`, `pod`, `deployment`, `statefulset`. With
hooks: `leaderworkerset`, `ray` (in `ray_pods` what Ray adds to its pods), `trainjob`, `spark`
and `appwrapper`.
"""
