"""Expressions and what they are, in a world of their own.

`e2e/test_expressions.py` asks Kubernetes' own evaluator about the same.
"""

from typing import Any

WORLD: dict[str, Any] = {
    "job": {
        "spec": {"replicas": 3, "template": {"containers": [{"name": "a"}, {"name": "b"}]}},
        "status": {"conditions": [{"type": "Complete", "status": "True"}], "share": 0.25},
        "labels": {"team": "vision", "queue-name": "door"},
        "note": "a, b,,c",
    },
    "nothing": None,
    "texts": ["soon", ".s", "9999999h", "["],
}
VALUES: dict[str, Any] = {
    # durations
    "duration('90m') == duration('1h30m')": True,
    "duration('1.5h') > duration('89m59.999s')": True,
    "duration('-1s') < duration('0')": True,
    "duration('1h') + duration('30m') == duration('90m')": True,
    "[duration('1s'), duration('2s')].sum() == duration('3s')": True,
    "duration(duration('1s')) <= duration('1000ms')": True,
    # sums
    "[1, 2, 3].sum()": 6,
    "[1.5, 2.5].sum()": 4.0,
    "job.spec.template.containers.map(c, size(c.name)).sum() == 2": True,
    # doubles as text
    "string(job.status.share)": "0.25",
    "string(1e6)": "1e+06",
    "string(123456.0)": "123456",
    "string(0.00001)": "1e-05",
    "string(-2.0)": "-2",
    # what may be absent
    "job.spec.?parallelism.orValue(1)": 1,
    "job.?spec.?template.?containers.orValue([]).size()": 2,
    "job.labels[?'team'].orValue('')": "vision",
    "job.?metadata.?labels[?'team'].orValue('none')": "none",
    "job.spec.?replicas.hasValue()": True,
    "has(job.status) && !has(job.status.ready)": True,
    "nothing == null ? 'new' : 'old'": "new",
    # lists and maps
    "job.labels.exists(k, k.startsWith('queue'))": True,
    "job.status.conditions.filter(c, c.status == 'True').map(c, c.type)": ["Complete"],
    "job.note.split(',').map(n, n.trim()).filter(n, n != '')": ["a", "b", "c"],
    "'team' in job.labels && !('x' in job.labels)": True,
    "[1, 2].all(n, n > 0) || job.nope": True,
    # patterns
    "'team-a.example'.matches('^[a-z]([-a-z.]*[a-z])?$')": True,
    "'v1.12'.matches('^v([0-9]+)([.][0-9]+)?$')": True,
    "'a\\n'.matches('^a$')": False,
    "'a\\x0bb'.matches('\\\\s')": False,
    "'b\u00fcdget'.matches('^b.dget$')": True,
    "'$5'.matches('[$]5$')": True,
    "'aa'.matches('^a{2}$')": True,
}
FAILURES: tuple[str, ...] = (
    "duration(texts[0]) > duration('1s')",
    "duration(texts[1]) == duration('0s')",
    "duration(texts[2]) > duration('0s')",
    "job.spec.parallelism == 1",
    "job.spec.template.containers[2].name == 'c'",
    "[1, 2].filter(n, n / 0 == 1) == []",
    "'a'.matches(texts[3])",
)
"""What has no value in the world, in Kubernetes as here."""
