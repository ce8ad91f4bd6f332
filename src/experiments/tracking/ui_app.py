"""MLflow's web application for `bythebook ui`, with the machine-learning view preselected.

MLflow has two views and stores the user's choice in the browser. The default is the view for
language models, in which the page of a study is empty. This application adds a script to MLflow's
page. The script selects the machine-learning view, closes the assistant, and sets the first columns
of the lists of runs (item, verdict, metrics) unless the user has chosen columns. MLflow loads this
application through the entry point `mlflow.app` (`--app-name bythebook`).
"""

import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import closing, suppress
from typing import Any

from bythebook.experiments.tracking import parent_watch
from bythebook.experiments.tracking.experiment_tags import COLUMNS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

DATABASE = "BYTHEBOOK_DATABASE"  # the environment variable with the path of the store
HEAD = b"<head>"
FIXED = {  # entries of the browser's store that are set at every start
    "mlflow.workflowType_v1": "machine_learning",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": True,
    "mlflow.assistant.panelOpen_v1": False,
}
SCRIPT = """<script>(function(fixed,first){{try{{
for(var k in fixed)localStorage.setItem(k,JSON.stringify(fixed[k]));
for(k in first)if(localStorage.getItem(k)===null)localStorage.setItem(k,JSON.stringify(first[k]));
}}catch(error){{}}}})({fixed},{first})</script>"""
_VIEW = {  # the settings of a list of runs in MLflow, without its columns
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
_STALE = (b"content-length", b"etag", b"last-modified")  # headers of the page without the script


class DefaultViewMiddleware:
    """Insert the script into the front page of an application."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        front = scope["type"] == "http" and scope["path"] in ("/", "/index.html")
        await self.inner(scope, receive, _ScriptInserter(send) if front else send)


class _ScriptInserter:
    """Collect a page until it is complete, then send it with the script in its head."""

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
    """The script for the page's head."""
    defaults = {
        f'MLflowLocalStorage-1.1-ExperimentPage-["{number}"]-ReactComponentState': {
            **_VIEW,
            "selectedColumns": columns.split(","),
        }
        for number, columns in (_columns(database) if database else {}).items()
    }
    fixed, first = (json.dumps(part).replace("<", "\\u003c") for part in (FIXED, defaults))
    return SCRIPT.format(fixed=fixed, first=first)


def _columns(database: str) -> dict[int, str]:
    """The first columns of the list of runs, by experiment id."""
    sql = "SELECT experiment_id, value FROM experiment_tags WHERE key = ?"
    with suppress(sqlite3.Error), closing(sqlite3.connect(database, timeout=5)) as connection:
        return dict(connection.execute(sql, [COLUMNS]).fetchall())
    return {}


def create_app() -> DefaultViewMiddleware:
    """The application that MLflow's server starts."""
    from mlflow.server.fastapi_app import app

    parent_watch.exit_with_parent()
    return DefaultViewMiddleware(app)
