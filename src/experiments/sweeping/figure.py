"""The figures of a sweep, from its tables: curves with standard errors, a heat map, a histogram."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.sweeping.plan import Plan, short
from experiments.sweeping.tables import metric_names, pivot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = 8  # so many curves can be told apart
WRITTEN, ABREAST = 60, 6  # so many numbers can be read on a heat map, and in one of its rows
DECADES = 100  # from the smallest value to the largest: a logarithmic axis


class Mark(NamedTuple):
    """A value that a text prints for the figure's quantity, at its own setting of the knobs."""

    value: float
    label: str
    at: dict[str, Any]


def draw_sweep(
    plan: Plan, table: "pd.DataFrame", pivot: "pd.DataFrame", folder: Path
) -> dict[str, Path]:
    """The figures as PNG, and the first small as well, as the MLflow UI shows images."""
    from experiments.drawing import canvas

    with canvas.style("screen"):
        found = figures(plan, table, pivot)
        paths = canvas.save_all(found, folder, ["png"], thumbnail=True)
    return {path.name: path for path in paths}


def redraw(
    plan: Plan,
    table: "pd.DataFrame",
    folder: Path,
    formats: Sequence[str],
    look: str = "screen",
    marks: Sequence[Mark] = (),
) -> list[Path]:
    """Draw a recorded sweep anew from its table of cells, over what a text prints."""
    from experiments.drawing import canvas

    with canvas.style(look):
        found = figures(plan, table, pivot_table(plan, table), marks)
        return canvas.save_all(found, folder, formats)


def read_cells(folder: Path) -> "pd.DataFrame":
    """The table of cells as it was written: an empty field is a gap, and nothing else is."""
    import pandas as pd

    return pd.read_csv(folder / "cells.csv", keep_default_na=False, na_values=[""])


def headline(plan: Plan, table: "pd.DataFrame") -> str:
    """The quantity of the figures: the stated one, else the study's first that varies."""
    names = metric_names(table, plan)
    varying = [name for name in names if table[name].nunique() > 1]
    return plan.metric if plan.metric in names else (varying or names)[0]


def figures(
    plan: Plan, table: "pd.DataFrame", pivot: "pd.DataFrame", marks: Sequence[Mark] = ()
) -> "dict[str, Figure]":
    """One knob: curves. More: a heat map, and curves as well where they can be told apart."""
    metric = headline(plan, table)
    if not plan.knobs:
        return {"sweep": _histogram(plan, table, metric, marks)}
    if len(plan.knobs) == 1:
        return {"sweep": _curves(plan, pivot, metric, marks)}
    found = {"sweep": _heat_map(plan, pivot, metric, marks)}
    if len(pivot[plan.knobs[1:]].drop_duplicates()) <= LINES:
        found["curves"] = _curves(plan, pivot, metric, marks)
    return found


def _histogram(plan: Plan, table: "pd.DataFrame", metric: str, marks: Sequence[Mark]) -> "Figure":
    from experiments.drawing.canvas import panels

    figure, ax = panels()
    values = table.loc[table["status"] == "finished", metric].astype(float)
    ax.hist([value for value in values if math.isfinite(value)], bins="auto")
    ax.set(xlabel=metric, ylabel="runs", title=_plain(plan.title))
    for mark, look in _looks(marks):
        ax.axvline(mark.value, **look)
    if marks:
        figure.legend(loc="outside lower center")
    return figure


def _looks(marks: Sequence[Mark]) -> "list[tuple[Mark, dict[str, Any]]]":
    """Lines for printed values: in no curve's colour, each in its own dashes."""
    dashes = ("--", ":", "-.")
    look: dict[str, Any] = {"color": "black", "linewidth": 1.2}
    return [
        (mark, {**look, "linestyle": dashes[i % 3], "label": _plain(mark.label)})
        for i, mark in enumerate(marks)
    ]


def _curves(plan: Plan, pivot: "pd.DataFrame", metric: str, marks: Sequence[Mark]) -> "Figure":
    """The metric against the first knob, a line for each combination of the others."""
    from experiments.drawing.canvas import panels

    first, *others = plan.knobs
    figure, ax = panels()
    for label, part in pivot.groupby(others, sort=False) if others else [((), pivot)]:
        line = part.sort_values(first) if _numeric(part[first]) else part
        ax.errorbar(
            line[first] if _numeric(line[first]) else [_plain(str(v)) for v in line[first]],
            line[f"{metric} mean"],
            yerr=line[f"{metric} s.e."].fillna(0.0),
            marker="o",
            capsize=2,
            label=_label(others, label),
        )
    for mark, look in _looks(marks):
        ax.axhline(mark.value, **look)
        if mark.at.get(first) in list(pivot[first]):  # a star where the text has its knob
            place = mark.at[first] if _numeric(pivot[first]) else _plain(str(mark.at[first]))
            ax.plot([place], [mark.value], "*", color="black", markersize=11, zorder=4)
    _scale(ax, pivot[first])
    ax.set(xlabel=short(first), ylabel=_quantity(metric, pivot), title=_plain(plan.title))
    if others or marks:
        figure.legend(loc="outside lower center", ncols=4)
    return figure


def _scale(ax: "Axes", values: "pd.Series[Any]") -> None:
    """Whole numbers get whole ticks, and values over decades a logarithmic axis."""
    from matplotlib.ticker import MaxNLocator

    if not _numeric(values):
        return
    if values.min() > 0 and values.max() >= DECADES * values.min():
        ax.set_xscale("log")
    elif values.dtype.kind == "i":
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _heat_map(plan: Plan, pivot: "pd.DataFrame", metric: str, marks: Sequence[Mark]) -> "Figure":
    """The metric's mean: the first knob to the right, combinations of the others upwards."""
    from matplotlib import rcParams

    from experiments.drawing.canvas import panels

    first, *others = plan.knobs
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
    figure, ax = panels()
    width, height = rcParams["figure.figsize"]
    figure.set_size_inches(
        width, max(0.8 * height, min(2 * height, 0.09 * width * len(combinations)))
    )
    image = ax.pcolormesh(means, edgecolors="face", linewidth=0.1)
    bar = figure.colorbar(image, ax=ax, label=f"{metric}, mean over seeds")
    keys = [label for label, _ in combinations]
    for mark, look in _looks(marks):
        bar.ax.axhline(mark.value, **{**look, "color": "C1", "linewidth": 2})
        _frame(ax, mark, (columns, first), (keys, others))
    several = len(others) > 1
    rows = [_label(others if several else [], label, ",\n") for label, _ in combinations]
    ax.set_xticks(*_ticks([_plain(str(value)) for value in columns]))
    ax.set_yticks(*_ticks(rows))
    ax.tick_params(length=0)
    ax.set(
        xlabel=short(first), ylabel="" if several else short(others[0]), title=_plain(plan.title)
    )
    ax.grid(visible=False)
    if len(rows) * len(columns) <= WRITTEN and len(columns) <= ABREAST:
        _write(ax, means, errors, image)
    if marks:
        figure.legend(loc="outside lower center")
    return figure


def _frame(
    ax: "Axes", mark: Mark, across: tuple[list[Any], str], up: tuple[list[Any], list[str]]
) -> None:
    """A frame round the cell of a text's own setting, where the map has it."""
    from matplotlib.patches import Rectangle

    (columns, first), (keys, others) = across, up
    wanted = tuple(mark.at.get(knob) for knob in others)
    rows = [key if isinstance(key, tuple) else (key,) for key in keys]
    if mark.at.get(first) in columns and wanted in rows:
        place = columns.index(mark.at[first]), rows.index(wanted)
        ax.add_patch(Rectangle(place, 1, 1, fill=False, edgecolor="C1", linewidth=2.5, zorder=3))


def _ticks(labels: list[str], most: int = 25) -> tuple[list[float], list[str]]:
    """Labels in the middle of their cells; of very many only some."""
    step = math.ceil(len(labels) / most)
    return [i + 0.5 for i in range(0, len(labels), step)], labels[::step]


def _write(ax: "Axes", means: list[list[float]], errors: list[list[float]], image: Any) -> None:
    """The numbers on their cells, in the ink that stands out there."""
    from experiments.drawing.dark import ON_BRIGHT, ON_DARK

    small = "x-small" if len(means[0]) > 5 else "small"
    for i, (row, around) in enumerate(zip(means, errors, strict=True)):
        for j, (mean, error) in enumerate(zip(row, around, strict=True)):
            if math.isnan(mean):
                continue
            red, green, blue, _ = image.cmap(image.norm(mean))
            ink = ON_BRIGHT if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else ON_DARK
            words = f"{mean:.3g}" + (f"\n± {error:.1g}" if error > 0 else "")
            ax.text(j + 0.5, i + 0.5, words, color=ink, ha="center", va="center", fontsize=small)


def _numeric(values: "pd.Series[Any]") -> bool:
    return values.dtype.kind in "if"


def _quantity(metric: str, pivot: "pd.DataFrame") -> str:
    return f"{metric}, mean and s.e. over seeds" if pivot["runs"].max() > 1 else metric


def _label(knobs: Sequence[str], values: Any, between: str = ", ") -> str:
    """The values with the names of their knobs, or bare where one name stands beside the axis."""
    values = values if isinstance(values, tuple) else (values,)
    words = [_plain(str(value)) for value in values]
    if not knobs:
        return between.join(words)
    return between.join(f"{short(k)}={word}" for k, word in zip(knobs, words, strict=True))


def _plain(text: str) -> str:
    """Text in a figure that is not to be read as mathematics."""
    return re.sub(r"\$", r"\\$", text)
