"""The figure of a sweep."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.plans import Plan, short
from experiments.sweep_tables import metric_names

if TYPE_CHECKING:
    import pandas as pd


def draw_sweep(
    plan: Plan, table: "pd.DataFrame", pivot: "pd.DataFrame", folder: Path
) -> dict[str, Path]:
    """The swept metric against the first knob, a line for each value of the others."""
    names = metric_names(table, plan)
    varying = [name for name in names if table[name].nunique() > 1]
    metric = plan.metric if plan.metric in names else (varying or names)[0]
    from experiments import plotting

    knobs = plan.knobs
    with plotting.style("screen"):
        figure, axes = plotting.panels()
        if not knobs:
            values = table.loc[table["status"] == "finished", metric].astype(float)
            axes.hist([value for value in values if math.isfinite(value)], bins="auto")
            axes.set(xlabel=metric, ylabel="runs")
        else:
            first, others = knobs[0], knobs[1:]
            groups = pivot.groupby(others, sort=False) if others else [((), pivot)]
            for label, part in groups:
                axes.errorbar(
                    part[first]
                    if part[first].dtype.kind in "if"
                    else [_plain(str(value)) for value in part[first]],
                    part[f"{metric} mean"],
                    yerr=part[f"{metric} s.e."].fillna(0.0),
                    marker="o",
                    capsize=2,
                    label=_line_label(others, label),
                )
            axes.set(xlabel=short(first), ylabel=f"{metric}, mean and s.e. over seeds")
            if others:
                axes.legend()
        axes.set_title(_plain(plan.title))
        return {path.name: path for path in plotting.save(figure, folder, "sweep", ["png"])}


def _line_label(knobs: Sequence[str], values: Any) -> str:
    values = values if isinstance(values, tuple) else (values,)
    names = [short(knob) for knob in knobs]
    pairs = zip(names, values, strict=False)
    return ", ".join(f"{name}={_plain(str(value))}" for name, value in pairs)


def _plain(text: str) -> str:
    """Text in a figure that is not to be read as mathematics."""
    return text.replace("$", r"\$")
