"""MLflow's web application as `bythebook ui` serves it: it opens on runs, not on language models.

MLflow remembers in the browser which of its two faces a user wants, and shows the one for language
models to whoever has not said so: a study's page is then empty. Its page is therefore served with a
line that chooses the other, folds its assistant away, and lets lists of runs begin with the item of
the book, the verdict and the first metrics; whoever has chosen columns keeps them. MLflow finds
this application by the entry point `mlflow.app` (`--app-name bythebook`).
"""

import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import closing, suppress
from typing import Any

from experiments.tracking import lifeline
from experiments.tracking.studies import COLUMNS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

DATABASE = "BYTHEBOOK_DATABASE"  # the store that is shown
HEAD = b"<head>"
CHOSEN = {
    "mlflow.workflowType_v1": "machine_learning",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": True,
    "mlflow.assistant.panelOpen_v1": False,
}
SCRIPT = """<script>(function(always,first){{try{{
for(var k in always)localStorage.setItem(k,JSON.stringify(always[k]));
for(k in first)if(localStorage.getItem(k)===null)localStorage.setItem(k,JSON.stringify(first[k]));
}}catch(error){{}}}})({always},{first})</script>"""
_VIEW = {  # a list of runs as MLflow keeps it, but for its columns
    "searchFilter": "tags.kind != 'cell'",
    "orderByKey": "attributes.start_time",
    "orderByAsc": False,
    "startTime": "ALL",
    "lifecycleFilter": "Active",
    "datasetsFilter": [],
    "modelVersionFilter": "All Runs",
    "columnOrder": [],
    "columnWidths": {},
    "runsExpanded": {},
    "runsPinned": [],
    "runsHidden": [],
    "runsVisibilityMap": {},
    "runsHiddenMode": "FIRST_10_RUNS",
    "viewMaximized": False,
    "runListHidden": False,
    "isAccordionReordered": False,
    "useGroupedValuesInCharts": True,
    "hideEmptyCharts": True,
    "groupBy": None,
    "groupsExpanded": {},
    "autoRefreshEnabled": False,
    "globalLineChartConfig": {
        "xAxisKey": "step",
        "lineSmoothness": 0,
        "selectedXAxisMetricKey": "",
    },
}
_STALE = (b"content-length", b"etag", b"last-modified")  # of the page without the line


class OnRuns:
    """An application whose front page chooses the machine-learning face."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        front = scope["type"] == "http" and scope["path"] in ("/", "/index.html")
        await self.inner(scope, receive, _Inserting(send) if front else send)


class _Inserting:
    """Holds a page back until it is whole, and sends it with the line in its head."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message = {}
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        self.body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = self.body.replace(HEAD, HEAD + script(os.environ.get(DATABASE)).encode(), 1)
        headers = [pair for pair in self.start["headers"] if pair[0].lower() not in _STALE]
        headers.append((b"content-length", str(len(body)).encode()))
        await self.send({**self.start, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def script(database: str | None) -> str:
    """The line in the page's head."""
    first = {
        f'MLflowLocalStorage-1.1-ExperimentPage-["{number}"]-ReactComponentState': {
            **_VIEW,
            "selectedColumns": columns.split(","),
        }
        for number, columns in (_columns(database) if database else {}).items()
    }
    always, stated = (json.dumps(part).replace("<", "\\u003c") for part in (CHOSEN, first))
    return SCRIPT.format(always=always, first=stated)


def _columns(database: str) -> dict[int, str]:
    """What the list of each experiment's runs begins with."""
    sql = "SELECT experiment_id, value FROM experiment_tags WHERE key = ?"
    with suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=5)) as connection:
        return dict(connection.execute(sql, [COLUMNS]).fetchall())
    return {}


def create_app() -> OnRuns:
    """What MLflow's server starts."""
    from mlflow.server.fastapi_app import app

    lifeline.watch()
    return OnRuns(app)
