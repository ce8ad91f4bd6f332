"""The figures of a sweep: curves with standard errors, a heat map, a histogram."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bythebook.experiments.sweeps.plan import SweepPlan, short_name
from bythebook.experiments.sweeps.tables import means_frame, metric_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LINES = 8  # curves that can be distinguished
MAX_ANNOTATED_CELLS = 60  # of a heat map with numbers
MAX_ANNOTATED_COLUMNS = 6
MAX_TICKS = 25  # tick labels of a heat map's axis
LOG_SCALE_RATIO = 100  # largest to smallest value from which an axis is logarithmic


class ReferenceValue(NamedTuple):
    """A printed value of the figure's quantity."""

    value: float
    label: str
    at: dict[str, Any]  # the knobs for which the text prints it


def save_sweep_figures(
    plan: SweepPlan, table: "pd.DataFrame", pivot: "pd.DataFrame", folder: Path
) -> dict[str, Path]:
    """Save the figures as PNG, and a thumbnail of the first one for the MLflow UI."""
    from bythebook.experiments.plotting import canvas

    with canvas.style("screen"):
        figures = draw_figures(plan, table, pivot)
        paths = canvas.save_all(figures, folder, ["png"], thumbnail=True)
    return {path.name: path for path in paths}


def redraw_sweep(
    plan: SweepPlan,
    table: "pd.DataFrame",
    folder: Path,
    formats: Sequence[str],
    style: str = "screen",
    marks: Sequence[ReferenceValue] = (),
) -> list[Path]:
    """Draw a recorded sweep again from its table of runs, with printed values as `marks`."""
    from bythebook.experiments.plotting import canvas

    with canvas.style(style):
        figures = draw_figures(plan, table, means_frame(plan, table), marks)
        return canvas.save_all(figures, folder, formats)


def read_cells(folder: Path) -> "pd.DataFrame":
    """Read the table of runs; only an empty field is a missing value, not the text `nan`."""
    import pandas as pd

    return pd.read_csv(folder / "cells.csv", keep_default_na=False, na_values=[""])


def main_metric(plan: SweepPlan, table: "pd.DataFrame") -> str:
    """The metric of the figures: the one in the plan, else the study's first that varies."""
    names = metric_names(table, plan)
    varying = [name for name in names if table[name].nunique() > 1]
    return plan.metric if plan.metric in names else (varying or names)[0]


def draw_figures(
    plan: SweepPlan,
    table: "pd.DataFrame",
    pivot: "pd.DataFrame",
    marks: Sequence[ReferenceValue] = (),
) -> "dict[str, Figure]":
    """Curves for one knob; for several a heat map, and curves if there are at most `MAX_LINES`."""
    metric = main_metric(plan, table)
    if not plan.varied_parameters:
        return {"sweep": _histogram(plan, table, metric, marks)}
    if len(plan.varied_parameters) == 1:
        return {"sweep": _curves(plan, pivot, metric, marks)}
    figures = {"sweep": _heat_map(plan, pivot, metric, marks)}
    if len(pivot[plan.varied_parameters[1:]].drop_duplicates()) <= MAX_LINES:
        figures["curves"] = _curves(plan, pivot, metric, marks)
    return figures


def _histogram(
    plan: SweepPlan, table: "pd.DataFrame", metric: str, marks: Sequence[ReferenceValue]
) -> "Figure":
    from bythebook.experiments.plotting.canvas import subplots

    figure, ax = subplots()
    values = table.loc[table["status"] == "finished", metric].astype(float)
    ax.hist([value for value in values if math.isfinite(value)], bins="auto")
    ax.set(xlabel=metric, ylabel="runs", title=_escape_mathtext(plan.title))
    for mark, look in _line_styles(marks):
        ax.axvline(mark.value, **look)
    if marks:
        figure.legend(loc="outside lower center")
    return figure


def _line_styles(marks: Sequence[ReferenceValue]) -> "list[tuple[ReferenceValue, dict[str, Any]]]":
    """Styles for printed values: black lines with different dashes."""
    dashes = ("--", ":", "-.")
    look: dict[str, Any] = {"color": "black", "linewidth": 1.2}
    return [
        (mark, {**look, "linestyle": dashes[i % 3], "label": _escape_mathtext(mark.label)})
        for i, mark in enumerate(marks)
    ]


def _curves(
    plan: SweepPlan, pivot: "pd.DataFrame", metric: str, marks: Sequence[ReferenceValue]
) -> "Figure":
    """The metric against the first knob, with a curve for each combination of the others."""
    from bythebook.experiments.plotting.canvas import subplots

    first, *others = plan.varied_parameters
    figure, ax = subplots()
    for label, part in pivot.groupby(others, sort=False) if others else [((), pivot)]:
        line = part.sort_values(first) if _numeric(part[first]) else part
        ax.errorbar(
            line[first]
            if _numeric(line[first])
            else [_escape_mathtext(str(v)) for v in line[first]],
            line[f"{metric} mean"],
            yerr=line[f"{metric} s.e."].fillna(0.0),
            marker="o",
            capsize=2,
            label=_label(others, label),
        )
    for mark, look in _line_styles(marks):
        ax.axhline(mark.value, **look)
        if mark.at.get(first) in list(pivot[first]):  # a star at the value that the text uses
            x = mark.at[first] if _numeric(pivot[first]) else _escape_mathtext(str(mark.at[first]))
            ax.plot([x], [mark.value], "*", color="black", markersize=11, zorder=4)
    _set_scale(ax, pivot[first])
    ax.set(
        xlabel=short_name(first),
        ylabel=_quantity(metric, pivot),
        title=_escape_mathtext(plan.title),
    )
    if others or marks:
        figure.legend(loc="outside lower center", ncols=4)
    return figure


def _set_scale(ax: "Axes", values: "pd.Series[Any]") -> None:
    """Use integer ticks for integers, and a logarithmic axis for a wide range of values."""
    from matplotlib.ticker import MaxNLocator

    if not _numeric(values):
        return
    if values.min() > 0 and values.max() >= LOG_SCALE_RATIO * values.min():
        ax.set_xscale("log")
    elif values.dtype.kind == "i":
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _heat_map(
    plan: SweepPlan, pivot: "pd.DataFrame", metric: str, marks: Sequence[ReferenceValue]
) -> "Figure":
    """The mean of the metric: the first knob on the x axis, combinations of the others on y."""
    from matplotlib import rcParams

    from bythebook.experiments.plotting.canvas import subplots

    first, *others = plan.varied_parameters
    combinations = list(pivot.groupby(others, sort=all(_numeric(pivot[name]) for name in others)))
    columns = (
        sorted(set(pivot[first])) if _numeric(pivot[first]) else list(dict.fromkeys(pivot[first]))
    )
    means, errors = (
        [
            [
                dict(zip(part[first], part[f"{metric} {word}"], strict=True)).get(v, math.nan)
                for v in columns
            ]
            for _, part in combinations
        ]
        for word in ("mean", "s.e.")
    )
    figure, ax = subplots()
    width, height = rcParams["figure.figsize"]
    figure.set_size_inches(
        width, max(0.8 * height, min(2 * height, 0.09 * width * len(combinations)))
    )
    image = ax.pcolormesh(means, edgecolors="face", linewidth=0.1)
    bar = figure.colorbar(image, ax=ax, label=f"{metric}, mean over seeds")
    keys = [label for label, _ in combinations]
    for mark, look in _line_styles(marks):
        bar.ax.axhline(mark.value, **{**look, "color": "C1", "linewidth": 2})
        _highlight_cell(ax, mark, (columns, first), (keys, others))
    several = len(others) > 1
    rows = [_label(others if several else [], label, ",\n") for label, _ in combinations]
    ax.set_xticks(*_ticks([_escape_mathtext(str(value)) for value in columns]))
    ax.set_yticks(*_ticks(rows))
    ax.tick_params(length=0)
    ax.set(
        xlabel=short_name(first),
        ylabel="" if several else short_name(others[0]),
        title=_escape_mathtext(plan.title),
    )
    ax.grid(visible=False)
    if len(rows) * len(columns) <= MAX_ANNOTATED_CELLS and len(columns) <= MAX_ANNOTATED_COLUMNS:
        _annotate_cells(ax, means, errors, image)
    if marks:
        figure.legend(loc="outside lower center")
    return figure


def _highlight_cell(
    ax: "Axes", mark: ReferenceValue, across: tuple[list[Any], str], up: tuple[list[Any], list[str]]
) -> None:
    """Frame the cell with the settings of the text, if the map contains it."""
    from matplotlib.patches import Rectangle

    (columns, first), (keys, others) = across, up
    row = tuple(mark.at.get(knob) for knob in others)
    rows = [key if isinstance(key, tuple) else (key,) for key in keys]
    if mark.at.get(first) in columns and row in rows:
        corner = columns.index(mark.at[first]), rows.index(row)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="C1", linewidth=2.5, zorder=3))


def _ticks(labels: list[str]) -> tuple[list[float], list[str]]:
    """Tick positions at the centres of the cells, and at most `MAX_TICKS` labels."""
    step = math.ceil(len(labels) / MAX_TICKS)
    return [i + 0.5 for i in range(0, len(labels), step)], labels[::step]


def _annotate_cells(
    ax: "Axes", means: list[list[float]], errors: list[list[float]], image: Any
) -> None:
    """Write the numbers on their cells, in the colour with more contrast."""
    from bythebook.experiments.plotting.dark_mode import TEXT_ON_DARK, TEXT_ON_LIGHT

    size = "x-small" if len(means[0]) > 5 else "small"
    for i, (row, row_errors) in enumerate(zip(means, errors, strict=True)):
        for j, (mean, error) in enumerate(zip(row, row_errors, strict=True)):
            if math.isnan(mean):
                continue
            red, green, blue, _ = image.cmap(image.norm(mean))
            luminance = 0.3 * red + 0.59 * green + 0.11 * blue
            colour = TEXT_ON_LIGHT if luminance > 0.5 else TEXT_ON_DARK
            text = f"{mean:.3g}" + (f"\n± {error:.1g}" if error > 0 else "")
            ax.text(j + 0.5, i + 0.5, text, color=colour, ha="center", va="center", fontsize=size)


def _numeric(values: "pd.Series[Any]") -> bool:
    return values.dtype.kind in "if"


def _quantity(metric: str, pivot: "pd.DataFrame") -> str:
    return f"{metric}, mean and s.e. over seeds" if pivot["runs"].max() > 1 else metric


def _label(knobs: Sequence[str], values: Any, separator: str = ", ") -> str:
    """The values with the names of their knobs; without names if the axis has the knob's name."""
    values = values if isinstance(values, tuple) else (values,)
    texts = [_escape_mathtext(str(value)) for value in values]
    if not knobs:
        return separator.join(texts)
    return separator.join(f"{short_name(k)}={text}" for k, text in zip(knobs, texts, strict=True))


def _escape_mathtext(text: str) -> str:
    """Escape dollar signs, so that Matplotlib does not read the text as mathematics."""
    return re.sub(r"\$", r"\\$", text)
