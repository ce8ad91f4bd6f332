"""Where a run is in the MLflow UI, for the runs that the local store knows."""

import sqlite3
from contextlib import closing
from pathlib import Path

from experiments.tracking.runs import RUN_ID

# MLflow opens in a view for language-model traces; runs live in the other one.
VIEW = "workflowType=machine_learning"
SERVER = "http://127.0.0.1:5000"  # where `bythebook ui` listens unless told otherwise


def links(outputs: Path) -> dict[str, str]:
    """Record id -> address in the UI. Without a store, or with one that cannot be read: nothing."""
    database = outputs / "mlflow.db"
    if not database.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute(
                "SELECT tags.value, experiment_id, run_uuid FROM tags JOIN runs USING (run_uuid)"
                " WHERE tags.key = ? AND lifecycle_stage = 'active' ORDER BY start_time, run_uuid",
                (RUN_ID,),
            ).fetchall()
    except sqlite3.Error:
        return {}
    return {
        record: f"{SERVER}/#/experiments/{experiment}/runs/{run}?{VIEW}"
        for record, experiment, run in found
    }
