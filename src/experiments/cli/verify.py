"""`bythebook verify`: recompute a recorded run and compare it bit for bit."""

import argparse
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.job import job_from_record
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.execution.worker import compute, evaluate_equations, single_threaded
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.tracking.payload import RUN_ID_TAG


def main(options: argparse.Namespace) -> int:
    """Return 1 if a quantity differs."""
    outputs = resolve_output_dir(options.outputs)
    run_id = options.run_id
    if re.fullmatch(r"[0-9a-f]{32}", run_id):
        run_id = _from_mlflow(outputs, run_id)
    record = RunStore(outputs).find(run_id)
    if not record.finished:
        raise InputError(f"run {record.id} failed, so it has no numbers to verify")
    job = job_from_record(record.content, options.data_dir or data_dir_from_environment())
    facts = record["provenance"]
    if job.code_hash != facts["code"]:
        console.notify(
            f"the code has changed since the run, from {facts['code']} to {job.code_hash}"
        )
    for name, entry in facts["data"].items():
        if job.data.get(name, {}).get("sha256") != entry["sha256"]:
            raise InputError(
                f"data set {name} differs from the one that the run used ({entry['grade']} data)"
            )
    with single_threaded():
        differing = diff_outcomes(record.outcome, compute(job).outcome)
        gaps = evaluate_equations(job)
    differing += [name for name, entry in record.equations.items() if gaps.get(name) != entry]
    if differing:
        shown = ", ".join(differing[:8]) + (", ..." if len(differing) > 8 else "")
        console.out.print(f"{record.id}: {len(differing)} quantities differ: {shown}")
        return UNEXPECTED
    equations = f", {len(gaps)} equations" if gaps else ""
    console.out.print(
        f"{record.id}: bitwise identical ({len(record.outcome)} quantities{equations})"
    )
    return OK


def _from_mlflow(outputs: Path, run_id: str) -> str:
    """The id of the record of an MLflow run in the local store."""
    database = outputs / "mlflow.db"
    if database.exists():
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            sql = "SELECT value FROM tags WHERE run_uuid = ? AND key = ?"
            row = connection.execute(sql, [run_id, RUN_ID_TAG]).fetchone()
        if row is not None:
            return str(row[0]).partition("@")[0]  # a run's second entry, see `duplicate_id`
    raise InputError(f"there is no MLflow run '{run_id}' in {database}")
