"""The tables of a sweep: one row a cell, and means with standard errors over seeds."""

import math
from typing import TYPE_CHECKING, Any

from experiments.sweeping.plan import Plan, Rows

if TYPE_CHECKING:
    import pandas as pd

WIDEST = 1000  # metrics; a study may name them after what is swept


def long_table(plan: Plan, rows: Rows) -> "pd.DataFrame":
    """One row a cell: the swept knobs, the run, every scalar (or the most common of very many)."""
    import numpy as np
    import pandas as pd

    places, names = rows.places, rows.names(WIDEST)
    found: dict[str, Any] = {
        knob: [number_or_text(values[index]) for index in places]
        for knob, values in plan.swept.items()
    }
    errors = [rows.errors.get(index, "") for index in places]
    found["run"] = [rows.runs[index] for index in places]
    found["status"] = ["failed" if error else "finished" for error in errors]
    found["error"] = [error.partition(":")[0] for error in errors]
    numbers = {name: np.full(len(places), np.nan) for name in names}
    kinds: dict[str, set[type]] = {name: set() for name in names}
    for place, index in enumerate(places):
        for name, value in rows.metrics(index):
            if name in numbers:
                numbers[name][place] = value
                kinds[name].add(type(value))
    fitted = {name: _fitted(values, kinds[name]) for name, values in numbers.items()}
    return pd.DataFrame({**found, **fitted})


def _fitted(values: Any, kinds: set[type]) -> Any:
    """A column as what it is: truth values and whole numbers stay what they are where all are."""
    import numpy as np

    gaps = np.isnan(values)
    if kinds == {bool}:
        return values == 1 if not gaps.any() else np.where(gaps, None, values == 1)
    if kinds == {int} and not gaps.any() and np.abs(values).max(initial=0) < 2**53:
        return values.astype(np.int64)
    return values


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
    fixed = {*plan.swept, "run", "status", "error"}
    return [str(name) for name in table.columns if name not in fixed]


def number_or_text(text: str) -> int | float | str:
    """A swept value as what it is, so that tables sort and figures scale."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def mean_and_error(mean: float | None, error: float | None) -> str | None:
    """A mean to the digits that its standard error leaves standing: 2.67 ± 0.67."""
    if mean is None:
        return None
    if not error or not math.isfinite(error) or not math.isfinite(mean):
        return f"{mean:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    if digits > 8 or abs(mean) >= 1e7:
        return f"{mean:.6g} ± {error:.2g}"
    return f"{mean:.{digits}f} ± {error:.{digits}f}"
