"""A dashboard as the JSON that Grafana imports."""

import json
from typing import Any

from queueing.observe.monitoring.dashboards import Dashboard, Panel, Variable

SCHEMA_VERSION = 39
WIDTH = 12
"""Of 24 columns: two panels in a row."""
HEIGHT = 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def rendered(dashboard: Dashboard) -> str:
    """Return the file."""
    document = {
        "annotations": {"list": []},
        "description": dashboard.about,
        "editable": True,
        "graphTooltip": 1,
        "panels": [_panel(place, one) for place, one in enumerate(dashboard.panels)],
        "refresh": "30s",
        "schemaVersion": SCHEMA_VERSION,
        "tags": ["queueing", "kueue"],
        "templating": {"list": [_datasource(), *map(_variable, dashboard.variables)]},
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "",
        "title": dashboard.title,
        "uid": dashboard.uid,
    }
    return json.dumps(document, indent=2) + "\n"


def _panel(place: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(place, 24 // WIDTH)
    return {
        "id": place + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": column * WIDTH, "y": row * HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": None}, "overrides": []},
        "options": {
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": _SOURCE,
                "expr": one.expression,
                "legendFormat": one.legend,
                "exemplar": "wait_time" in one.expression,
            }
            for number, one in enumerate(panel.queries)
        ],
    }


def _datasource() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
    }


def _variable(variable: Variable) -> dict[str, Any]:
    query = f"label_values({variable.metric}, {variable.label})"
    return {
        "name": variable.name,
        "label": variable.label,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": variable.name},
        "definition": query,
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": ["All"], "value": ["$__all"]},
        "sort": 1,
    }
