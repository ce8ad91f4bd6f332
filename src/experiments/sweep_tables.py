"""The tables of a sweep: one row a cell, and means with standard errors over seeds."""

from typing import TYPE_CHECKING, Any

from experiments.plans import Plan, Rows

if TYPE_CHECKING:
    import pandas as pd


def long_table(plan: Plan, rows: Rows) -> "pd.DataFrame":
    """One row a cell: the swept knobs, the run, every scalar."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for index, row in sorted(rows.items()):
        swept = {name: number_or_text(value) for name, value in plan.swept[index].items()}
        status = "failed" if row.error else "finished"
        error = (row.error or "").partition(":")[0]
        lines.append({**swept, "run": row.run, "status": status, "error": error, **row.metrics})
    return pd.DataFrame(lines)


def pivot_table(plan: Plan, table: "pd.DataFrame") -> "pd.DataFrame":
    """Mean and standard error over seeds for every combination of the other swept knobs."""
    import numpy as np
    import pandas as pd

    knobs = plan.knobs
    names = metric_names(table, plan)
    values = table[table["status"] == "finished"].astype(dict.fromkeys(names, float))
    if not knobs:
        values, knobs = values.assign(all="all"), ["all"]
    grouped = values.groupby(knobs, sort=False)[names]
    mean, error = grouped.mean(), grouped.sem()
    columns = [f"{name} {part}" for name in names for part in ("mean", "s.e.")]
    both = np.stack([mean, error], axis=-1).reshape(len(mean), -1)
    wide = pd.DataFrame(both, mean.index, columns)
    return pd.concat([grouped.size().rename("runs"), wide], axis=1).reset_index()


def metric_names(table: "pd.DataFrame", plan: Plan) -> list[str]:
    fixed = {*plan.swept[0], "run", "status", "error"}
    return [str(name) for name in table.columns if name not in fixed]


def number_or_text(text: str) -> int | float | str:
    """A swept value as what it is, so that tables sort and figures scale."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
