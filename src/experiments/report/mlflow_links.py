"""Addresses of runs in the MLflow UI, for the runs in the local tracking store."""

import sqlite3
from contextlib import closing
from pathlib import Path

from bythebook.experiments.tracking.payload import RUN_ID_TAG

# MLflow opens its view for language-model traces by default; runs are in the other view.
MLFLOW_VIEW_QUERY = "workflowType=machine_learning"
DEFAULT_UI_URL = "http://127.0.0.1:5000"  # the default of `bythebook ui`


def mlflow_links(outputs: Path) -> dict[str, str]:
    """The address of each run id in the UI; empty if there is no readable local store."""
    database = outputs / "mlflow.db"
    if not database.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute(
                "SELECT tags.value, experiment_id, run_uuid FROM tags JOIN runs USING (run_uuid)"
                " WHERE tags.key = ? AND lifecycle_stage = 'active' ORDER BY start_time, run_uuid",
                (RUN_ID_TAG,),
            ).fetchall()
    except sqlite3.Error:
        return {}
    return {
        record: f"{DEFAULT_UI_URL}/#/experiments/{experiment}/runs/{run}?{MLFLOW_VIEW_QUERY}"
        for record, experiment, run in rows
    }
