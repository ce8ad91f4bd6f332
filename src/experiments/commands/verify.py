"""`bythebook verify`: recompute a recorded run and compare every number to the last bit."""

import argparse
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from experiments.commands import console
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration.jobs import recorded_job
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.contract.outcome import differences
from experiments.records.store import RunStore
from experiments.running.work import compute, one_thread
from experiments.tracking.runs import RUN_ID


def main(options: argparse.Namespace) -> int:
    """Exit 1 if anything differs."""
    outputs = outputs_folder(options.outputs)
    run_id = options.run_id
    if re.fullmatch(r"[0-9a-f]{32}", run_id):
        run_id = _from_mlflow(outputs, run_id)
    record = RunStore(outputs).find(run_id)
    if not record.finished:
        raise BadInput(f"run {record.id} failed when it was made; there is nothing to compare")
    job = recorded_job(record.content, options.data or os.environ.get("BOOK_DATA") or None)
    facts = record["provenance"]
    if job.code != facts["code"]:
        console.tell(f"the code has changed since the run ({facts['code']}, now {job.code})")
    for name, entry in facts["data"].items():
        if job.data.get(name, {}).get("sha256") != entry["sha256"]:
            raise BadInput(f"data set {name} is not the one the run used ({entry['grade']} data)")
    with one_thread():
        found = differences(record.outcome, compute(job).outcome)
    if found:
        shown = ", ".join(found[:8]) + (", ..." if len(found) > 8 else "")
        console.out.print(f"{record.id}: {len(found)} quantities differ: {shown}")
        return UNEXPECTED
    console.out.print(f"{record.id}: identical to the last bit ({len(record.outcome)} quantities)")
    return OK


def _from_mlflow(outputs: Path, run_id: str) -> str:
    """The record behind an MLflow run of the local store."""
    database = outputs / "mlflow.db"
    if database.exists():
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            sql = "SELECT value FROM tags WHERE run_uuid = ? AND key = ?"
            row = connection.execute(sql, [run_id, RUN_ID]).fetchone()
        if row is not None:
            return str(row[0]).partition("@")[0]  # a sweep's entry of a run that was found
    raise BadInput(f"MLflow run '{run_id}' is not in {database}")
