"""The tables of a sweep: one row per run, and means with standard errors over seeds."""

import math
from typing import TYPE_CHECKING, Any

from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable

if TYPE_CHECKING:
    import pandas as pd

MAX_METRICS = 1000  # in a table; a study may name metrics after swept values


def cells_frame(plan: SweepPlan, rows: SweepTable) -> "pd.DataFrame":
    """One row per run: the swept knobs, the run's id, and up to `MAX_METRICS` metrics."""
    import numpy as np
    import pandas as pd

    indices, names = rows.filled_rows, rows.names(MAX_METRICS)
    columns: dict[str, Any] = {
        knob: [parse_value(values[index]) for index in indices]
        for knob, values in plan.swept.items()
    }
    errors = [rows.errors.get(index, "") for index in indices]
    columns["run"] = [rows.runs[index] for index in indices]
    columns["status"] = ["failed" if error else "finished" for error in errors]
    columns["error"] = [error.partition(":")[0] for error in errors]
    numbers = {name: np.full(len(indices), np.nan) for name in names}
    kinds: dict[str, set[type]] = {name: set() for name in names}
    for row, index in enumerate(indices):
        for name, value in rows.metrics(index):
            if name in numbers:
                numbers[name][row] = value
                kinds[name].add(type(value))
    metrics = {name: _restore_dtype(values, kinds[name]) for name, values in numbers.items()}
    return pd.DataFrame({**columns, **metrics})


def _restore_dtype(values: Any, kinds: set[type]) -> Any:
    """Convert a column of floats back if all its values were truth values or all integers."""
    import numpy as np

    gaps = np.isnan(values)
    if kinds == {bool}:
        return values == 1 if not gaps.any() else np.where(gaps, None, values == 1)
    if kinds == {int} and not gaps.any() and np.abs(values).max(initial=0) < 2**53:
        return values.astype(np.int64)
    return values


def means_frame(plan: SweepPlan, table: "pd.DataFrame") -> "pd.DataFrame":
    """Mean and standard error over seeds, for each combination of the other swept knobs."""
    import numpy as np
    import pandas as pd

    knobs = plan.varied_parameters
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


def metric_names(table: "pd.DataFrame", plan: SweepPlan) -> list[str]:
    fixed = {*plan.swept, "run", "status", "error"}
    return [str(name) for name in table.columns if name not in fixed]


def parse_value(text: str) -> int | float | str:
    """A swept value as a number if it is one, so that tables sort and figures have scales."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def format_mean_se(mean: float | None, error: float | None) -> str | None:
    """A mean, rounded to the second digit of its standard error: 2.67 ± 0.67."""
    if mean is None:
        return None
    if not error or not math.isfinite(error) or not math.isfinite(mean):
        return f"{mean:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    if digits > 8 or abs(mean) >= 1e7:
        return f"{mean:.6g} ± {error:.2g}"
    return f"{mean:.{digits}f} ± {error:.{digits}f}"
